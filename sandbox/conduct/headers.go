package conduct

import (
	"strings"

	"github.com/rin-network/rin/sandbox/journal"
)

func headerRules() []Rule {
	return []Rule{
		{
			ID: "CLT-27", Level: Note, Title: "Accept admits JSON",
			Sources: []Source{rfc(9110, "12.5.1"), network(11)},
			Why:     "A node may answer 406, or an error page in HTML, to a client that says that it does not read JSON.",
			Fix:     "send Accept: application/json, or leave the field out",
			check: each(func(e *journal.Entry) bool { return (api(e) || token(e)) && e.Accept != "" && !admitsJSON(e.Accept) },
				func(e *journal.Entry) string { return call(e) + " had Accept: " + e.Accept }),
		},
		{
			ID: "CLT-28", Level: Note, Title: "The call of the info resource has Content-Type: application/json",
			Sources: []Source{network(13)},
			Why:     "The interface document lists the field for this call, although a GET has no body. A node that takes it by the word refuses calls without it.",
			Fix:     "send Content-Type: application/json with the GET of the info resource, and no body",
			check: each(func(e *journal.Entry) bool {
				mediaType, _, _ := strings.Cut(e.ContentType, ";")
				return e.Operation == journal.Info && api(e) && e.Status == 200 && !strings.EqualFold(strings.TrimSpace(mediaType), "application/json")
			}, func(e *journal.Entry) string {
				if e.ContentType == "" {
					return call(e) + " had no Content-Type"
				}
				return call(e) + " had Content-Type: " + e.ContentType
			}),
		},
		{
			ID: "CLT-29", Level: Note, Title: "A client says who it is",
			Sources: []Source{rfc(9110, "10.1.5")},
			Why:     "An operator who sees a client in trouble can find it by its name only, and blocks the nameless first.",
			Fix:     "send User-Agent with the name and version of the program and a way to reach you",
			check: each(func(e *journal.Entry) bool { return (api(e) || token(e)) && e.Agent == "" },
				func(e *journal.Entry) string { return call(e) + " had no User-Agent" }),
		},
	}
}

// admitsJSON tells whether the ranges of Accept include a JSON answer.
func admitsJSON(accept string) bool {
	for media := range strings.SplitSeq(accept, ",") {
		name, weight, _ := strings.Cut(media, ";")
		switch name = strings.ToLower(strings.TrimSpace(name)); {
		case strings.HasPrefix(strings.ReplaceAll(weight, " ", ""), "q=0") && strings.Trim(strings.ReplaceAll(weight, " ", "")[3:], ".0") == "":
		case name == "*/*", name == "*", name == "application/*", name == "application/json", strings.HasSuffix(name, "+json"):
			return true
		}
	}
	return false
}
