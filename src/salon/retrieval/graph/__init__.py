"""What the cards name and how names lead from one passage to another."""
