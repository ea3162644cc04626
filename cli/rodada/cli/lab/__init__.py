"""
`rodada lab`: simulated calls with dependencies, run by the loop on a scripted model.
"""
