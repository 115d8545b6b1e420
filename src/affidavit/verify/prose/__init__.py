"""Do the words add anything to the facts? (M4; pure, only able to refuse)

Every atom of a sentence (number with unit, time, name, quotation, quantifier, direction, negation,
hedge, causal marker, plain word) has to be bound to what the sentence cites. The word lists here
are English and Chinese function words, units, comparison and causal vocabulary; none knows a
product or a fault.
"""
