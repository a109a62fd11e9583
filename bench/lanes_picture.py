"""Draws lanes: who computed which grain, and who waited, as an SVG for light and dark pages."""
import math

WIDTH, LEFT, RIGHT = 980, 150, 24
LANE, GAP, FIRST_PANEL, BETWEEN = 46, 12, 96, 62

STYLE = """
    .page { fill: #ffffff; stroke: #c9d1d9; }
    .lane { fill: #f3f6fa; }
    .grain0 { fill: #3f7fbf; } .grain1 { fill: #2f9c86; } .grain2 { fill: #7a6bb5; }
    .exchange { fill: #e2953a; }
    .hatch { stroke: #a3afba; }
    .wait { stroke: #c3ccd4; }
    .bound { stroke: #43535f; stroke-width: 1; stroke-dasharray: 2 3; }
    .axis { stroke: #8796a3; stroke-width: 1; }
    text { fill: #1b2733; }
    .small { font-size: 12px; fill: #43535f; }
    .head { font-size: 15px; font-weight: bold; }
    .title { font-size: 18px; font-weight: bold; }
    @media (prefers-color-scheme: dark) {
      .page { fill: #12181f; stroke: #3a4652; }
      .lane { fill: #1a232c; }
      .grain0 { fill: #5b9bd9; } .grain1 { fill: #45b89f; } .grain2 { fill: #9a8bd6; }
      .exchange { fill: #e8a552; }
      .hatch { stroke: #5d6c79; }
      .wait { stroke: #3d4a56; }
      .bound { stroke: #b9c6d2; }
      .axis { stroke: #6d7d8b; }
      text { fill: #eef3f8; }
      .small { fill: #b9c6d2; }
    }"""


class Panel:
    """One policy. steps: of each the grains as [worker, executor, begin, end], seconds since the step before."""

    def __init__(self, title, facts, steps):
        self.title, self.facts, self.steps = title, facts, steps

    def lengths(self):
        return [max(end for _, _, _, end in grains) for grains in self.steps]


def lanes_svg(title, description, names, panels):
    """names: of the workers. Both panels have the same scale, which ends where the longer one does."""
    seconds = max(sum(panel.lengths()) for panel in panels)
    scale = (WIDTH - LEFT - RIGHT) / seconds
    panel_height = len(names) * (LANE + GAP) - GAP
    axis_top = FIRST_PANEL + len(panels) * (panel_height + BETWEEN) - BETWEEN + 34
    height = axis_top + 74
    parts = [head(title, description, height)]
    for number, panel in enumerate(panels):
        top = FIRST_PANEL + number * (panel_height + BETWEEN) + 22
        parts += draw_panel(panel, names, top, scale)
    parts += draw_axis(seconds, scale, axis_top + 10)
    parts += legend(axis_top + 52, len(names))
    return "\n".join([*parts, "</svg>", ""])


def head(title, description, height):
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="Helvetica, Arial, sans-serif" font-size="14" role="img" aria-labelledby="title desc">
  <title id="title">{title}</title>
  <desc id="desc">{description}</desc>
  <style>{STYLE}
  </style>
  <defs>
    <pattern id="waiting" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
      <line class="hatch" x1="0" y1="0" x2="0" y2="7" stroke-width="2"/>
    </pattern>
  </defs>
  <rect class="page" x="1" y="1" width="{WIDTH - 2}" height="{height - 2}" rx="10"/>
  <text class="title" x="24" y="38">{title}</text>
  <text class="small" x="24" y="60">{description}</text>"""


def box(kind, x, y, width, height, radius=2):
    return f'  <rect class="{kind}" x="{x:.2f}" y="{y:.1f}" width="{max(width, 0.4):.2f}" height="{height}" rx="{radius}"/>'


def draw_panel(panel, names, top, scale):
    bottom = top + len(names) * (LANE + GAP) - GAP
    right = LEFT + sum(panel.lengths()) * scale
    parts = [f'  <text class="head" x="24" y="{top - 22}">{panel.title}</text>',
             f'  <text class="small" x="{WIDTH - RIGHT}" y="{top - 22}" text-anchor="end">{panel.facts}</text>']
    for worker, name in enumerate(names):
        y = top + worker * (LANE + GAP)
        parts.append(box("lane", LEFT, y, right - LEFT, LANE))
        parts.append(f'  <text x="24" y="{y + LANE / 2 + 5:.0f}">{name}</text>')
    begin = LEFT
    for grains, length in zip(panel.steps, panel.lengths()):
        for worker in range(len(names)):
            parts += draw_lane([grain for grain in grains if grain[0] == worker], worker, begin,
                               top + worker * (LANE + GAP), length, scale)
        end = begin + length * scale
        parts.append(f'  <line class="bound" x1="{end:.2f}" y1="{top - 6}" x2="{end:.2f}" y2="{bottom + 6}"/>')
        parts.append(f'  <text class="small" x="{(begin + end) / 2:.1f}" y="{top - 4}" text-anchor="middle">{length:.2f} s</text>')
        begin = end
    return parts


def draw_lane(grains, worker, x, y, length, scale):
    """A worker in a step: what the step before left to do, its grains, and its waiting."""
    grains = sorted(grains, key=lambda grain: grain[2])
    first = grains[0][2] if grains else 0
    last = grains[-1][3] if grains else 0
    parts = [box("exchange", x, y, first * scale, LANE, 0)] if grains else []
    for _, _, begin, end in grains:
        parts.append(box(f"grain{worker}", x + begin * scale + 0.5, y, (end - begin) * scale - 1, LANE))
    if (length - last) * scale > 1.5:
        parts.append(f'  <rect class="wait" fill="url(#waiting)" x="{x + last * scale + 0.5:.2f}" y="{y + 0.5:.1f}" '
                     f'width="{(length - last) * scale - 1:.2f}" height="{LANE - 1}"/>')
    return parts


def draw_axis(seconds, scale, y):
    apart = next(step for step in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10) if seconds / step <= 10)
    parts = [f'  <line class="axis" x1="{LEFT}" y1="{y}" x2="{LEFT + seconds * scale:.1f}" y2="{y}"/>']
    for tick in range(math.floor(seconds / apart) + 1):
        x = LEFT + tick * apart * scale
        parts.append(f'  <line class="axis" x1="{x:.1f}" y1="{y}" x2="{x:.1f}" y2="{y + 5}"/>')
        parts.append(f'  <text class="small" x="{x:.1f}" y="{y + 19}" text-anchor="middle">{tick * apart:g}{" s" if tick == 0 else ""}</text>')
    return parts


def legend(y, workers):
    parts, x = [], LEFT
    for worker in range(workers):
        parts.append(box(f"grain{worker}", x + 10 * worker, y - 11, 9, 14))
    x += 10 * workers + 7
    parts.append(f'  <text class="small" x="{x}" y="{y}">a grain</text>')
    x += 80
    parts.append(f'  <rect class="wait" fill="url(#waiting)" x="{x}" y="{y - 11}" width="24" height="14"/>')
    parts.append(f'  <text class="small" x="{x + 31}" y="{y}">waiting for the others</text>')
    x += 190
    parts.append(box("exchange", x, y - 11, 24, 14))
    parts.append(f'  <text class="small" x="{x + 31}" y="{y}">exchange of gradients and update of the weights</text>')
    return parts


PAGE = """<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
  body {{ margin: 2rem auto; max-width: 62rem; padding: 0 1rem; font: 16px/1.5 Helvetica, Arial, sans-serif; color: #1b2733; background: #fff; }}
  svg {{ width: 100%; height: auto; }}
  @media (prefers-color-scheme: dark) {{ body {{ color: #eef3f8; background: #0c1116; }} }}
</style>
<h1>{title}</h1>
<p>{sentences}</p>
{svg}
</html>
"""


def lanes_page(title, sentences, svg):
    return PAGE.format(title=title, sentences=sentences, svg=svg)
