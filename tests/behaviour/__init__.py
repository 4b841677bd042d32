"""What Salon must do, clause by clause, and the check that each is proven or openly open."""
