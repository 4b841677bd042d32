"""The blackboard: typed slots, steps declared as data, and what runs them in derived order.

It knows no particular step. Steps do not call each other; they meet in slots.
"""
