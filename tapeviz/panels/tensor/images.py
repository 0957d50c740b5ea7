"""Choose the images, channels or slices that an array can be looked at by."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...trace.stats import Array

SMALLEST = 8
"""Rows and columns from which an array with channels is an image."""
COLOUR, OVER, MEAN = "colour", "over the image", "mean of channels"
MOST_CHANNELS = 512


@dataclass(frozen=True, slots=True)
class Form:
    """How an array is cut into slices to be looked at. ``leading``: sizes of the dimensions of
    which one index is looked at at a time, those of size 1 left out; ``rest``: of the dimensions
    that are shown; ``channels``: how many of them lie last in ``rest``, 0 where there are none."""

    leading: tuple[int, ...]
    rest: tuple[int, ...]
    channels: int = 0

    def fit(self, array: Array) -> Array:
        """The array without the dimensions of size 1 that say nothing."""
        return array.reshape(self.leading + self.rest)


def form_of(shape: tuple[int, ...]) -> Form:
    """Images as TensorFlow keeps them (``[N,] height, width, channels``), else matrices."""
    is_batch = len(shape) >= 4 and min(shape[-3:-1]) >= SMALLEST
    is_single = len(shape) == 3 and shape[-1] in (1, 3, 4) and min(shape[:2]) >= SMALLEST
    if is_batch or is_single:
        leading = tuple(size for size in shape[:-3] if size != 1)
        return Form(leading, shape[-3:], shape[-1])
    sizes = tuple(size for size in shape if size != 1)
    return Form(sizes[:-2], sizes[-2:])


def choices(form: Form, is_gradient: bool, has_image: bool) -> list[str]:
    """The ways to look at the channels, the best one first; empty where there is one way only."""
    found = [OVER] if is_gradient and has_image and form.channels else []
    if form.channels == 3 and not is_gradient:
        found.append(COLOUR)
    if form.channels == 1:
        return [*found, "channel 0"] if found else []
    if form.channels:
        found += [MEAN, *(f"channel {k}" for k in range(min(form.channels, MOST_CHANNELS)))]
    return found


def channel_of(image: Array, choice: str) -> Array:
    """One matrix of an image (height, width, channels)."""
    if choice.startswith("channel "):
        return image[..., int(choice.split()[1])]
    if choice == MEAN:
        return np.asarray(image.mean(axis=-1))
    if choice == OVER:
        return strongest(image)
    return image[..., 0]


def strongest(image: Array) -> Array:
    """For each pixel the channel with the largest modulus, with its sign."""
    sizes = np.abs(np.nan_to_num(image, posinf=np.inf, neginf=-np.inf))
    best = sizes.argmax(axis=-1)[..., None]
    found: Array = np.asarray(np.take_along_axis(image, best, -1)[..., 0])
    return found


def as_colours(image: Array) -> Array:
    """Red, green and blue in 0…1: of bytes and numbers up to 1 or 255 by what they mean, of others
    from the least to the greatest."""
    numbers = np.nan_to_num(image.astype(np.float64), posinf=0.0, neginf=0.0)
    low, high = (float(numbers.min()), float(numbers.max())) if numbers.size else (0.0, 1.0)
    if low >= 0 and high <= 255:
        return numbers / (1.0 if high <= 1 and image.dtype != np.uint8 else 255.0)
    return (numbers - low) / ((high - low) or 1.0)
