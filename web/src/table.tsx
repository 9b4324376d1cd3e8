// A table that scrolls inside its card.
import type { ComponentChildren } from "preact";
import { counted } from "./format";

export interface Column {
    title: string;
    text?: boolean;
}

export function Table({ columns, rows, left }: { columns: Column[]; rows: ComponentChildren[][]; left?: number }) {
    return (
        <>
            <div class="scroll">
                <table>
                    <thead>
                        <tr>
                            {columns.map((c) => (
                                <th class={c.text ? "text" : ""}>{c.title}</th>
                            ))}
                        </tr>
                    </thead>
                    <tbody>
                        {rows.map((row) => (
                            <tr>
                                {row.map((cell, i) => (
                                    <td class={columns[i].text ? "text" : ""}>{cell}</td>
                                ))}
                            </tr>
                        ))}
                    </tbody>
                </table>
            </div>
            {!!left && <p class="soft">{counted(left, "more row is", "more rows are")} not shown.</p>}
        </>
    );
}

// What a reader has to know before the numbers; nothing where there is nothing.
export function Warnings({ texts }: { texts: string[] }) {
    if (!texts.length) return null;
    return (
        <div class="warning">
            <ul>
                {texts.map((text) => (
                    <li>{text}</li>
                ))}
            </ul>
        </div>
    );
}
