"""
The core of `rodada`: the tool-use loop of a language model as an explicit state machine.
"""

from rodada.statemachine.conversation import Conversation
from rodada.statemachine.events import Failure
from rodada.statemachine.limits import Limits
from rodada.statemachine.live import LiveRun
from rodada.statemachine.loop import ToolLoop
from rodada.statemachine.loop_options import LoopOptions, RunOptions
from rodada.statemachine.messages import (
    Entry,
    Exchange,
    Media,
    MediaLink,
    ModelTurn,
    Part,
    Piece,
    Served,
    Status,
    Stop,
    Text,
    ToolRequest,
    ToolResult,
    Usage,
    UserMessage,
)
from rodada.statemachine.notice import ArgumentsDelta, Delta, Notice, ReasoningDelta, TextDelta
from rodada.statemachine.outcome import CallRecord, Outcome, Selection, Unfinished
from rodada.statemachine.plan import Kind, Plan, PlannedCall
from rodada.statemachine.ports import AnyTool, Clock, History, Provider, Streaming, Toolbox, ToolCall, Watch
from rodada.statemachine.prices import Price
from rodada.statemachine.request import ModelRequest, ToolDeclaration
from rodada.statemachine.run import Origin, Run
from rodada.statemachine.spent import Spent
from rodada.statemachine.states import Reason, RunStatus, State
from rodada.statemachine.step import Step, step
from rodada.statemachine.toolbox import ToolList
from rodada.statemachine.watching import (
    ApprovalAsked,
    Ended,
    Gap,
    Said,
    SoFar,
    StepTaken,
    ToolEnded,
    ToolNotRun,
    ToolStarted,
    TurnEnded,
    TurnKind,
    told,
)
from rodada.statemachine.wording import ENGLISH, LANGUAGES, PORTUGUESE, SPANISH, Wording

__all__ = [
    "ENGLISH",
    "LANGUAGES",
    "PORTUGUESE",
    "SPANISH",
    "AnyTool",
    "ApprovalAsked",
    "ArgumentsDelta",
    "CallRecord",
    "Clock",
    "Conversation",
    "Delta",
    "Ended",
    "Entry",
    "Exchange",
    "Failure",
    "Gap",
    "History",
    "Kind",
    "Limits",
    "LiveRun",
    "LoopOptions",
    "Media",
    "MediaLink",
    "ModelRequest",
    "ModelTurn",
    "Notice",
    "Origin",
    "Outcome",
    "Part",
    "Piece",
    "Plan",
    "PlannedCall",
    "Price",
    "Provider",
    "Reason",
    "ReasoningDelta",
    "Run",
    "RunOptions",
    "RunStatus",
    "Said",
    "Selection",
    "Served",
    "SoFar",
    "Spent",
    "State",
    "Status",
    "Step",
    "StepTaken",
    "Stop",
    "Streaming",
    "Text",
    "TextDelta",
    "ToolCall",
    "ToolDeclaration",
    "ToolEnded",
    "ToolList",
    "ToolLoop",
    "ToolNotRun",
    "ToolRequest",
    "ToolResult",
    "ToolStarted",
    "Toolbox",
    "TurnEnded",
    "TurnKind",
    "Unfinished",
    "Usage",
    "UserMessage",
    "Watch",
    "Wording",
    "step",
    "told",
]
