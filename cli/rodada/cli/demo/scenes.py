"""
The five scenes.
"""

from rodada.cli.demo import gym, shop
from rodada.cli.demo.promises import CANCELLED, CLOSING, DISCREET, GROUNDED, goal_saved
from rodada.cli.demo.scene import Message, Scene
from rodada.providers.loopback import Call, Turn
from rodada.statemachine import Limits, Reason, RunStatus, Status

OCTOBER = (
    {"date": "2026-10-02", "kg": 77.5, "reps": 5},
    {"date": "2026-10-09", "kg": 77.5, "reps": 7},
    {"date": "2026-10-16", "kg": 80.0, "reps": 5},
    {"date": "2026-10-23", "kg": 80.0, "reps": 6},
    {"date": "2026-10-30", "kg": 82.5, "reps": 5},
)

THREE_TOOLS = Scene(
    title="An answer after three chained tools",
    shows="The model reads the training log, computes the record from it, saves a goal, and only then answers.",
    instructions=gym.INSTRUCTIONS,
    tools=gym.gym_tools,
    messages=(
        Message(
            says="How much did my bench press improve this month? Set me a goal of 85 kg.",
            script=(
                Turn(
                    "Let me look at your log.",
                    calls=(Call("read_training_log", {"exercise": "bench press", "month": "2026-10"}),),
                    reasoning=True,
                ),
                Turn(calls=(Call("compute_record", {"lifts": list(OCTOBER)}),), reasoning=True),
                Turn(calls=(Call("save_goal", {"exercise": "bench press", "kg": 85}),), reasoning=True),
                Turn("Your bench press went from 77.5 kg to 82.5 kg, 5 kg more. Your next goal is saved: 85 kg."),
            ),
            calls=(
                ("read_training_log", Status.SUCCEEDED),
                ("compute_record", Status.SUCCEEDED),
                ("save_goal", Status.SUCCEEDED),
            ),
            rounds=3,
        ),
    ),
    promises=(goal_saved("bench press", 85), GROUNDED),
)

THE_LIMIT = Scene(
    title="The limit, and a closing call",
    shows="Two rounds are allowed; the model asks a third time, is told that it was not executed, and closes.",
    instructions=gym.INSTRUCTIONS,
    tools=gym.gym_tools,
    messages=(
        Message(
            says="Compare my squat in August, September and October.",
            limits=Limits(max_rounds=2),
            script=(
                Turn(calls=(Call("read_training_log", {"exercise": "squat", "month": "2026-08"}),), reasoning=True),
                Turn(calls=(Call("read_training_log", {"exercise": "squat", "month": "2026-09"}),), reasoning=True),
                Turn(calls=(Call("read_training_log", {"exercise": "squat", "month": "2026-10"}),), reasoning=True),
                Turn("Your squat rose from 100 kg to 105 kg by September. I did not get to October: shall I go on?"),
            ),
            ends=(RunStatus.INCOMPLETE, Reason.MAX_ROUNDS),
            calls=(
                ("read_training_log", Status.SUCCEEDED),
                ("read_training_log", Status.SUCCEEDED),
                ("read_training_log", Status.NOT_EXECUTED),
            ),
            rounds=2,
        ),
    ),
    promises=(*CLOSING, GROUNDED),
)

A_FAILURE = Scene(
    title="A tool that fails",
    shows="The export of the scales is not there: the tool raises, the model is told so, and the run goes on.",
    instructions=gym.INSTRUCTIONS,
    tools=gym.gym_tools,
    messages=(
        Message(
            says="What do I weigh?",
            script=(
                Turn(calls=(Call("read_body_weight"),), reasoning=True),
                Turn("I could not read your body weight: the file of your scales was not found."),
            ),
            calls=(("read_body_weight", Status.FAILED),),
            rounds=1,
        ),
    ),
    promises=(DISCREET,),
)

TWO_REQUESTS = Scene(
    title="Two independent requests, one of which fails",
    shows="In one turn a shop's model asks for payments and for an order; the ledger is damaged, the order is found.",
    instructions=shop.INSTRUCTIONS,
    tools=lambda desk: shop.SHOP_TOOLS,
    messages=(
        Message(
            says="What have I paid so far, and where is order A-1042?",
            script=(
                Turn(
                    calls=(
                        Call("payment_history", {"customer_id": "C-17"}),
                        Call("order_status", {"order_id": "A-1042"}),
                    ),
                    reasoning=True,
                ),
                Turn("Order A-1042 is on its way, expected on 2026-11-03. I could not read your payments."),
            ),
            calls=(("payment_history", Status.FAILED), ("order_status", Status.SUCCEEDED)),
            rounds=1,
        ),
    ),
    promises=(GROUNDED,),
)

A_CANCEL = Scene(
    title="A cancel in the middle of two tools, and the next message",
    shows="The goal is saved and the coach is asked; the person leaves before the coach replies, and comes back.",
    instructions=gym.INSTRUCTIONS,
    tools=gym.gym_tools,
    messages=(
        Message(
            says="Set my deadlift goal to 150 kg, and ask my coach whether that is wise.",
            limits=Limits(stop_seconds=0.1),
            leaves=True,
            script=(
                Turn(
                    calls=(
                        Call("save_goal", {"exercise": "deadlift", "kg": 150}),
                        Call("ask_coach", {"question": "Is a deadlift goal of 150 kg wise?"}),
                    ),
                    reasoning=True,
                ),
            ),
            ends=(RunStatus.CANCELLED, Reason.CANCELLED),
            answer="",
            calls=(("save_goal", Status.SUCCEEDED), ("ask_coach", Status.OUTCOME_UNKNOWN)),
            rounds=1,
        ),
        Message(
            says="I am back. What came of it?",
            script=(
                Turn("Your deadlift goal of 150 kg is saved. I cannot tell whether my question reached your coach."),
            ),
        ),
    ),
    promises=(goal_saved("deadlift", 150), *CANCELLED, GROUNDED),
)

SCENES = (THREE_TOOLS, THE_LIMIT, A_FAILURE, TWO_REQUESTS, A_CANCEL)
