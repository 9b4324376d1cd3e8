// The report's part on communication and partitions, made at first demand.
import "uplot/dist/uPlot.min.css";
import { MemorySection } from "../memory";
import { useAsk } from "./ask";
import { useModel } from "./model";
import { Empty, Failed, Head } from "./parts";

export function CommunicationView() {
    const model = useModel();
    const answer = useAsk("run", model.run.hasCommunication ? "communication" : null, (signal) =>
        model.source.communication(signal),
    );
    if (!model.run.hasCommunication)
        return (
            <Empty title="This page contains only one launch.">
                <code>ctascope report RUN</code> writes a page with the communication of all launches.
            </Empty>
        );
    return (
        <>
            <Head>
                <b>Communication</b>{" "}
                <span class="soft">
                    whole run: data that one launch writes and another reads, and the cost of a split over several GPUs
                </span>
            </Head>
            <div class="communication scrolled">
                {answer.error && <Failed answer={answer} />}
                {answer.data ? (
                    <MemorySection data={answer.data} />
                ) : (
                    !answer.error && <p class="soft working pad">Matching readers with writers</p>
                )}
            </div>
        </>
    );
}
