package clientrules

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/rin-network/rin/sandbox/journal"
)

// boundRules returns the rules about how often a client repeats what fails or never changes, and where it sends its secret.
func boundRules() []Rule {
	return []Rule{
		{
			ID: "CLT-51", Level: Waste, Title: "A call that keeps failing is repeated a few times only",
			Sources: []Source{rfc(9110, "15.6.1"), practice("the retries of a library inside the retries of the program multiply")},
			Why:     "Five attempts of a library inside five of the program are twenty-five requests: where a node is down, its clients keep it down.",
			Fix:     "let one place repeat, either the library or the program, about five times with growing pauses; then end with an error, and leave the rest to the next run",
			check:   countlessRetries,
		},
		{
			ID: "CLT-52", Level: Fault, Title: "A client secret is sent only to the node that issued it",
			Sources: []Source{network(9), network(10), rfc(6749, "2.3.1")},
			Why:     "Each node has its own authorization server: one that gets the secret of another node can act as the client there until the secret is replaced.",
			Fix:     "keep id and secret for each node, choose the entry of the registry by its id, and send them to its token endpoint only; have the secret replaced",
			check:   foreignSecrets,
		},
		{
			ID: "CLT-53", Level: Note, Title: "What seldom changes is read once in a run",
			Sources: []Source{rfc(9111, "4.2"), practice("registry, info resource and document change a few times a year")},
			Why:     "A client that reads the registry, the info resource or the document before each call doubles its requests, and meets rate limits sooner.",
			Fix:     "read them when the program starts, and keep them for the run; ignore this note if the client watches them",
			check:   repeatedLookups,
		},
	}
}

// countlessRetries finds calls that failed and were repeated so often within a minute that the client cannot have made growing pauses.
func countlessRetries(all history) []Sighting {
	const many = 20
	var seen []Sighting
	for _, group := range all.repeats {
		if len(group) <= many {
			continue
		}
		fails := func(e *request) bool { return isTemporary(e) && !isTokenRefused(e) && !isDescribed(e) }
		for run := range group.runs(fails, func(before, e *request) bool { return e.Time.Sub(before.Ended) < time.Minute }) {
			workers := run.inFlight()
			if most := densestPart(run.chain(), time.Minute); len(most) > many*workers {
				seen = append(seen, Sighting{fmt.Sprintf("%s failed (%s) and was repeated %s within %s", requestLine(most[0]), failure(most[0]), Times(len(most)-1),
					elapsed(most[0].Ended, most[len(most)-1].Time)), most})
			}
		}
	}
	return seen
}

// foreignSecrets finds secrets that one node or environment had accepted, and that the client also sent to another node or environment, which refused them.
func foreignSecrets(all history) []Sighting {
	type place struct {
		secret, node string
		elsewhere    bool
	}
	at := func(e *request) place { return place{e.Secret, e.Node, isElsewhere(e)} }
	accepted, issuers := map[place]bool{}, map[string]*request{} // issuers by secret
	for _, e := range all.requests {
		if isTokenRequest(e) && e.Issued != nil && e.Secret != "" {
			accepted[at(e)], issuers[e.Secret] = true, e
		}
	}
	return each(func(e *request) bool {
		return isTokenRequest(e) && e.Status == 401 && issuers[e.Secret] != nil && !accepted[at(e)]
	}, func(e *request) string {
		if issuer := issuers[e.Secret]; issuer.Node != e.Node {
			return fmt.Sprintf("%s of node %s got the secret that node %s had issued", requestLine(e), e.Node, issuer.Node)
		}
		return requestLine(e) + " got the secret of another environment"
	})(all)
}

// repeatedLookups finds resources that seldom change and that the client read again and again between other calls.
func repeatedLookups(all history) []Sighting {
	const (
		many = 5
		soon = 10 * time.Second
	)
	isLookup := func(e *request) bool {
		switch e.Operation {
		case journal.Registry, journal.Info, journal.Document, journal.Metadata:
			return e.Method == "GET" && e.Status == 200 && isServed(e) && e.IfNoneMatch == "" && len(e.Deviations) == 0
		}
		return false
	}
	// A client that only watches a resource makes no other call in between; reads counts the calls that brought records, by program.
	reads, lookups := map[int]int{}, map[int]*lookupRun{} // lookups by subject
	var seen []Sighting
	end := func(l *lookupRun) {
		if len(l.run) >= many {
			seen = append(seen, Sighting{fmt.Sprintf("%s was read %s within %s, with other calls between", requestLine(l.run[0]), Times(len(l.run)),
				elapsed(l.run[0].Time, l.run[len(l.run)-1].Time)), l.run})
		}
		l.run = nil
	}
	for _, e := range all.requests {
		switch {
		case isLookup(e):
			l := lookups[e.subject]
			if l == nil {
				l = new(lookupRun)
				lookups[e.subject] = l
			}
			if n := len(l.run); n > 0 {
				if last := l.run[n-1]; last.program != e.program || !follows(last, e) || e.Time.Sub(last.Ended) >= soon || reads[e.program] == l.reads {
					end(l)
				}
			}
			l.run, l.reads = append(l.run, e), reads[e.program]
		case readsRecords(e) && isServed(e):
			reads[e.program]++
		}
	}
	for _, subject := range slices.Sorted(maps.Keys(lookups)) {
		end(lookups[subject])
	}
	return seen
}

// lookupRun holds consecutive lookups of one resource; reads is the number of calls that had brought records when the last lookup was sent.
type lookupRun struct {
	run   requests
	reads int
}
