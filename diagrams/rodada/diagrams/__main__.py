"""
`python -m rodada.diagrams`: rewrite the committed pictures of the checkout one stands in.
"""

from pathlib import Path

from rodada.diagrams.pages import write

if __name__ == "__main__":
    write(Path.cwd())
