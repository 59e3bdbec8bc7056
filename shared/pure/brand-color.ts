// Colours are `#rrggbb`. Luminance and contrast are those of WCAG 2.2.
const [BLACK, WHITE] = ['#000000', '#ffffff'] as const;
/** What small text needs (WCAG 2.2, success criterion 1.4.3). */
export const TEXT_CONTRAST = 4.5;
const MIX_STEPS = 100;

function channelsOf(color: string): number[] {
  return [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
}

function luminanceOf(color: string): number {
  const [red = 0, green = 0, blue = 0] = channelsOf(color).map((channel) => {
    const part = channel / 255;
    return part <= 0.040_45 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** The contrast of two colours, from 1 to 21. */
export function contrastOf(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

/** Black or white, whichever is easier to read on a colour. Its contrast is at least 4.5. */
export function inkOn(color: string): string {
  return contrastOf(color, WHITE) >= contrastOf(color, BLACK) ? WHITE : BLACK;
}

/** A colour, mixed with as little black or white as lets people read it on a ground. */
export function readableOn(color: string, ground: string): string {
  const [from, to] = [channelsOf(color), channelsOf(inkOn(ground))];
  const mixed = (step: number) =>
    `#${from
      .map((channel, n) => Math.round(channel + (((to[n] ?? 0) - channel) * step) / MIX_STEPS))
      .map((channel) => channel.toString(16).padStart(2, '0'))
      .join('')}`;
  let step = 0;
  while (contrastOf(mixed(step), ground) < TEXT_CONTRAST) step += 1;
  return mixed(step);
}
