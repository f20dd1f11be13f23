"""Small tail probabilities: sums of exact laws, multilevel splitting, and laws with given moments."""
