package certificate

import (
	"fmt"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/probe"
	"github.com/rin-network/rin/conformance/report"
)

// takeEntry takes the step entry. Without a registry document it says that no entry was compared.
func (v *verification) takeEntry() {
	if v.in.Registry != nil {
		v.take(StepEntry, v.entry)
		return
	}
	v.Checks = append(v.Checks, Check{Step: StepEntry, State: NotChecked, Compared: "nothing, because no registry document was given (--registry)"})
}

// entry compares the entry of the node in a registry document with the node that the run tested. A run says nothing about a node at other URLs.
func (v *verification) entry() Check {
	const document = "the registry document"
	const compared = "id and URLs of the entry in the registry document with those that were tested"
	if v.log == nil {
		return Check{Step: StepEntry, State: Undecided, Compared: "nothing, because the evidence could not be read"}
	}
	run := v.log.Run
	entries, err := probe.ReadEntries(v.in.Registry)
	if err != nil {
		return broken(StepEntry, compared, document, err.Error())
	}
	tested := strings.TrimSpace(run.NodeID)
	var same, sameURLs []probe.RegistryEntry
	for _, e := range entries {
		if e.ID == tested {
			same = append(same, e)
		}
		if e.TokenURL == run.TokenURL && e.InfoURL == run.InfoURL {
			sameURLs = append(sameURLs, e)
		}
	}
	if tested == "" { // the run was given URLs
		same = sameURLs
	}
	switch id := clipID(tested); {
	case len(same) == 0 && tested == "":
		why := fmt.Sprintf("expected an entry with the URLs that were tested, oauth2 %.200q and info %.200q, got none", run.TokenURL, run.InfoURL)
		return broken(StepEntry, compared, document, why)
	case len(same) == 0 && len(sameURLs) > 0:
		other := clipID(sameURLs[0].ID)
		return broken(StepEntry, compared, "the entry "+other, fmt.Sprintf("expected the id that was tested, %q, got %q with the same URLs", id, other))
	case len(same) == 0:
		return broken(StepEntry, compared, document, fmt.Sprintf("expected an entry with the id that was tested, %q, got none", id))
	case len(same) > 1:
		why := fmt.Sprintf("expected one entry of the node that was tested, got %d", len(same))
		return broken(StepEntry, compared, "the entry "+clipID(same[0].ID), why)
	}
	entry := same[0]
	v.Entry = report.Plain(entry.ID)
	for _, u := range []struct{ member, tested, got string }{{"oauth2", run.TokenURL, entry.TokenURL}, {"info", run.InfoURL, entry.InfoURL}} {
		if u.got != u.tested {
			why := fmt.Sprintf("%s: expected the URL that was tested, %.200q, got %.200q", u.member, u.tested, u.got)
			return broken(StepEntry, compared, "the entry "+clipID(entry.ID), why)
		}
	}
	return holds(StepEntry, "%s: %s", compared, v.Entry)
}

// clipID shortens an id for a message.
func clipID(id string) string { return evidence.Clip(id, 64) }
