"""
Every scene through every SDK that is installed: in full through the first one, in one line each through the others.
"""

from collections.abc import Iterable, Iterator

from attrs import evolve, frozen

from rodada.cli.demo.direct import direct
from rodada.cli.demo.play import SILENT, play
from rodada.cli.demo.promises import judged
from rodada.cli.demo.scene import Judged, Scene
from rodada.cli.demo.scenes import SCENES
from rodada.cli.demo.vendors import Vendor
from rodada.cli.demo.view import View
from rodada.providers.loopback import Loopback
from rodada.statemachine import Provider, ToolLoop
from rodada.statemachine.errors import MissingExtra

INTRODUCTION = (
    "rodada demo. The model is scripted; all else is real: the vendors' SDKs, HTTP on this machine, tools that read "
    "and write files, and the state machine. The server refuses what the vendors refuse, and the promises are checked "
    "on the requests that it received. No key and no network are needed."
)
KEY = "none-needed"


@frozen
class Performance:
    """
    What was played and checked.

    Attributes:
        sdks: how many.
        scenes: how many, over all SDKs.
        promises: how many were checked.
        broken: name of each broken promise, with scene and SDK.
    """

    sdks: int = 0
    scenes: int = 0
    promises: int = 0
    broken: tuple[str, ...] = ()

    def and_scene(self, vendor: Vendor, scene: Scene, judgements: tuple[Judged, ...]) -> "Performance":
        """
        With one scene more.
        """
        broken = [f"{each.promise.name} in {scene.title!r} through {vendor.name}" for each in judgements if each.fault]
        return evolve(
            self,
            scenes=self.scenes + 1,
            promises=self.promises + len(judgements),
            broken=(*self.broken, *broken),
        )


async def perform(view: View, vendors: Iterable[Vendor]) -> Performance:
    """
    Play, show and check the scenes.
    """
    view.say(INTRODUCTION)
    done = Performance()
    with direct(), Loopback() as server:
        for vendor, provider in _installed(view, vendors, server):
            async with ToolLoop(provider) as loop:
                done = await _perform_through(vendor, loop, server, view, done)
    if done.sdks:
        view.summary(done.sdks, done.scenes, done.promises, done.broken)
    return done


def _installed(view: View, vendors: Iterable[Vendor], server: Loopback) -> Iterator[tuple[Vendor, Provider]]:
    for vendor in vendors:
        try:
            yield vendor, vendor.provider(vendor.model, KEY, server.base_url(vendor.name))
        except MissingExtra as error:
            view.skipped(vendor.name, str(error))


async def _perform_through(
    vendor: Vendor, loop: ToolLoop, server: Loopback, view: View, done: Performance
) -> Performance:
    in_full = done.sdks == 0
    view.through(vendor.sdk, in_full)
    done = evolve(done, sdks=done.sdks + 1)
    for number, scene in enumerate(SCENES, 1):
        if in_full:
            view.scene(number, scene)
        played = await play(scene, vendor, loop, server, view if in_full else SILENT)
        judgements = judged(played)
        if in_full:
            view.promises(judgements)
        else:
            view.scene_line(number, played, judgements)
        done = done.and_scene(vendor, scene, judgements)
    return done
