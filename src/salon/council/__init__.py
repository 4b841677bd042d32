"""What happens in a round: five seats draft, criticise, refine, vote, fuse and publish."""
