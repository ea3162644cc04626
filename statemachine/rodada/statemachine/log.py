"""
Log lines: structured, through the standard logger `rodada`, silent until the host configures it, never any content.

structlog's own global configuration is neither used nor touched: unconfigured it prints to standard output, which
would ruin `--json`.
"""

import logging

import structlog

_STANDARD = logging.getLogger("rodada")
_STANDARD.addHandler(logging.NullHandler())
_LOGGER: structlog.stdlib.BoundLogger = structlog.wrap_logger(
    _STANDARD,
    processors=[structlog.processors.KeyValueRenderer(key_order=["event"], repr_native_str=False)],
    wrapper_class=structlog.stdlib.BoundLogger,
    cache_logger_on_first_use=True,
)


def log_info(event: str, **facts: object) -> None:
    """
    A line of the ordinary course: `event key=value ...`.
    """
    if _STANDARD.isEnabledFor(logging.INFO):
        _LOGGER.info(event, **facts)


def log_warning(event: str, **facts: object) -> None:
    """
    A line that somebody should read.
    """
    if _STANDARD.isEnabledFor(logging.WARNING):
        _LOGGER.warning(event, **facts)
