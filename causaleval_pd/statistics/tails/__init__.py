"""Small tail probabilities: sums of exact laws."""
