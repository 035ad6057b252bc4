from __future__ import annotations

import asyncio
import threading

from hookagent_human_approval.turns import Turns


def test_one_at_a_time_in_the_order_of_asking() -> None:
    async def main() -> list[str]:
        turns, said = Turns(), list[str]()

        async def talk(name: str) -> None:
            async with turns:
                said.append(f"{name} begins")
                await asyncio.sleep(0)
                await asyncio.sleep(0)
                said.append(f"{name} ends")

        await asyncio.gather(*map(talk, "abc"))
        return said

    said = asyncio.run(main())
    assert said == [f"{name} {what}" for name in "abc" for what in ("begins", "ends")]


def test_who_gives_up_waiting_holds_up_nobody() -> None:
    async def main() -> None:
        turns = Turns()
        await turns.__aenter__()
        waiting = [asyncio.ensure_future(turns.__aenter__()) for _ in range(3)]
        await asyncio.sleep(0)
        waiting[0].cancel()  # still in the line
        await turns.__aexit__(None, None, None)
        waiting[1].cancel()  # handed the turn, but does not know yet
        await waiting[2]
        await turns.__aexit__(None, None, None)
        await turns.__aenter__()

    asyncio.run(asyncio.wait_for(main(), 30))


def test_turns_are_shared_by_the_loops_of_several_threads() -> None:
    turns, inside, most = Turns(), list[int](), list[int]()

    async def talk(number: int) -> None:
        for _ in range(20):
            async with turns:
                inside.append(number)
                most.append(len(inside))
                await asyncio.sleep(0)
                inside.remove(number)

    threads = [threading.Thread(target=lambda number=number: asyncio.run(talk(number))) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert max(most) == 1
    assert len(most) == 80
