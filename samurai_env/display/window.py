"""A window that shows scenes, for `render_mode="human"`. pygame is imported when something is shown."""

import numpy as np

from samurai_env.display.pixels import rgb_array
from samurai_env.display.scene import Scene


def show(scene: Scene, title: str) -> None:
    """Show a scene in the window of this process, which is opened when it is first needed.

    Raises:
        ImportError: pygame, aggdraw or pillow is missing.
    """
    try:
        import pygame
    except ImportError as error:
        raise ImportError('render_mode="human" needs pygame: pip install pygame-ce aggdraw pillow') from error
    pixels = np.ascontiguousarray(rgb_array(scene))
    size = pixels.shape[1], pixels.shape[0]
    pygame.display.init()
    screen = pygame.display.get_surface()
    if screen is None or screen.get_size() != size:
        screen = pygame.display.set_mode(size)
    pygame.display.set_caption(title)
    pygame.event.pump()  # lest the window system take the program for hung
    screen.blit(pygame.image.frombuffer(pixels.tobytes(), size, "RGB"), (0, 0))
    pygame.display.flip()


def close() -> None:
    """Close the window, if there is one."""
    import sys

    if pygame := sys.modules.get("pygame"):
        pygame.display.quit()
