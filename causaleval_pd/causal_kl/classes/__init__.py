"""Markov equivalence classes whose members have parameters: the estimates of algorithms that return CPDAGs."""
