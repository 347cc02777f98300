"""After Blender died with a request on its way: Fetch takes it up, and pays nothing."""

from __future__ import annotations

from scenarios.film import MOVE, at_work, film


def play(user):
    yield from user.open_panel()
    user.settings.move = MOVE
    user.settings.stages.film.poll = 0.2
    user.settings.stages.film.seeds = "5"
    yield from user.show_section(6)
    yield from user.until(lambda: film(user) and film(user).going, 30, "it goes on at fal")
    yield 1.0
    yield from user.scroll_panel(30)
    user.shot("goes_on")
    yield from user.click("anymocap.order_film")
    yield from user.until(lambda: len(film(user).takes) == 4, 60, "the film is there")
    yield from user.until(lambda: not at_work(user), 120, "all is at rest")
    yield 1.5
    user.shot("fetched")
    user.save_result(seeds=[take.seed for take in film(user).takes])
