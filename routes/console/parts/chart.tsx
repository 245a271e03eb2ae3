// Bars over time, drawn on the server: no script, both themes. Text stands beside the drawing and not in it, so that it
// keeps its size when the drawing is stretched.
import type { Html } from "./html.ts";

/** One bar. */
export interface Bar {
  /** What it stands for, as its title says: an hour, a day. */
  readonly name: string;
  readonly value: number;
}

/** A drawing. */
export interface ChartProps {
  /** What is drawn; the title of the drawing for those who do not see it. */
  readonly label: string;
  readonly bars: readonly Bar[];
  /** A value as text. */
  readonly format: (value: number) => string;
  /** What the head tells of the bars: how much they are together, or, where a sum means nothing, the highest. */
  readonly told?: "sum" | "highest";
}

const [WIDTH, HEIGHT] = [1000, 120];
/** Share of a bar's place that stays free. */
const GAP = 0.25;

/** A figure with what its bars tell, the highest value of its scale above them, and the first and last name below. */
export function Chart({ label, bars, format, told = "sum" }: ChartProps): Html {
  const highest = Math.max(0, ...bars.map(({ value }) => value));
  const most = niceMost(highest);
  const step = WIDTH / Math.max(1, bars.length);
  return (
    <figure class="chart">
      <figcaption>
        <span>{label}</span>
        <span class="note">
          {told === "sum"
            ? `${format(bars.reduce((sum, { value }) => sum + value, 0))} in all`
            : `at most ${format(highest)}`}
        </span>
      </figcaption>
      <div class="chart-top note" aria-hidden="true">{highest > 0 ? format(most) : ""}</div>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={spoken(label, bars, format)}
      >
        <line class="grid-line" x1={0} x2={WIDTH} y1={0.5} y2={0.5} />
        <line class="grid-line" x1={0} x2={WIDTH} y1={HEIGHT / 2} y2={HEIGHT / 2} />
        <line class="base-line" x1={0} x2={WIDTH} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} />
        {bars.map(({ name, value }, at) => {
          const height = value <= 0 ? 0 : Math.max(1.5, value / most * HEIGHT);
          return (
            <g>
              <title>{`${name}: ${format(value)}`}</title>
              <rect class="ground" x={round(at * step)} y={0} width={round(step)} height={HEIGHT} />
              <rect
                class="bar-of-chart"
                x={round((at + GAP / 2) * step)}
                y={round(HEIGHT - height)}
                width={round(step * (1 - GAP))}
                height={round(height)}
              />
            </g>
          );
        })}
      </svg>
      <div class="chart-feet note" aria-hidden="true">
        <span>{bars[0]?.name ?? ""}</span>
        <span>{bars.at(-1)?.name ?? ""}</span>
      </div>
    </figure>
  );
}

/** The next round number above: 1, 2, 2.5 or 5 times a power of ten. One where everything is nothing. */
function niceMost(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const digit = [1, 2, 2.5, 5, 10].find((one) => one * power >= value * (1 - 1e-9)) ?? 10;
  return digit * power;
}

function spoken(label: string, bars: readonly Bar[], format: (value: number) => string): string {
  const highest = bars.reduce<Bar | null>(
    (most, bar) => most === null || bar.value > most.value ? bar : most,
    null,
  );
  if (highest === null || highest.value <= 0) return `${label}: nothing yet`;
  return `${label}: at most ${format(highest.value)}, ${highest.name}`;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
