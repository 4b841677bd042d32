"""The ground everything stands on: values, hashing, time, errors and interfaces.

Nothing here touches a disk, a network or another layer of Salon.
"""
