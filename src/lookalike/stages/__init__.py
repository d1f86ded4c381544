"""The stages of the pipeline, each a function from one noun to the next.

collapsing   sets → groups of exact copies, and back from groups to items
sampling     sets → what the pairs of this corpus look like (for the plan)
sketching    sets → signatures → band keys
banding      band keys → candidates
verifying    candidates → pairs
clustering   pairs → clusters
choosing     items → the order in which they are kept
estimating   pairs → how much was missed
"""
