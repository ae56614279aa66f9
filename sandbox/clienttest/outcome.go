package clienttest

import "github.com/rin-network/rin/sandbox/clientrules"

// Outcome explains a problem that is not a breach of a rule for clients.
type Outcome struct {
	ID                clientrules.ID
	Title, Found, Fix string
}

// Outcomes lists the outcomes of a run that are faults.
func Outcomes() []Outcome {
	return []Outcome{
		{Exit, "The program ended with an error where a good client goes on",
			"Its exit code is not 0, although the scenario is one that a good client survives: the run without faults, or one that ends by itself after a pause or a new token.",
			"Handle the fault as rin explain SCENARIO says. The end of the program's output is below the table of the run."},
		{TimeOut, "The program was killed because its time was over",
			"It still ran when --timeout had passed. A client that repeats a request for ever, or waits for an answer without a limit, looks like this.",
			"Set a limit for each request and for the number of repetitions. If the program is only slow, give it more time with --timeout."},
		{Silent, "The program sent no request to the sandbox",
			"The sandbox of the run got no request. Mostly the program has the addresses of another node built in, or could not start its work.",
			"Read the addresses from the environment: rin client-test --help lists the variables. The sandbox of each run has a port of its own."},
		{Lost, "The program reported success without the records",
			"Its exit code is 0, but a request for records failed and no later request read them. The same holds for a request that was redirected, also one for a token or the info resource, " +
				"if the program neither followed the redirect nor read the records in another way.",
			"Repeat the request, or follow the redirect; if that does not help, end with an exit code other than 0, so that nobody takes a part for the whole."},
	}
}

// FindOutcome returns the outcome of an id.
func FindOutcome(id clientrules.ID) (Outcome, bool) {
	for _, o := range Outcomes() {
		if o.ID == id {
			return o, true
		}
	}
	return Outcome{}, false
}
