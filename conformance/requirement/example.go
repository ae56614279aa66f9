package requirement

import (
	"embed"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"

	"github.com/rin-network/rin/conformance/evidence"
)

// The cases that test the checks also explain them, so they are part of the binary.
//
//go:embed testdata/*.txtar testdata/good/*.http
var exampleFiles embed.FS

// Case is a written example: how a node may answer, and the outcome.
type Case struct {
	Outcome Outcome
	Title   string
}

// Cases returns the written examples of a requirement in the order of its file.
func Cases(id ID) []Case {
	data, err := exampleFiles.ReadFile("testdata/" + string(id) + ".txtar")
	if err != nil {
		return nil
	}
	var out []Case
	for _, f := range txtar.Parse(data).Files {
		if outcome, title, ok := strings.Cut(f.Name, ": "); ok {
			out = append(out, Case{Outcome(outcome), title})
		}
	}
	return out
}

// ExampleRequest returns a request of the requirement, as sent to the good node of the examples: the first of Needs and Reads that they contain. It
// returns false for a requirement that only looks at the requests of others.
func ExampleRequest(r Requirement) (evidence.Exchange, bool) {
	scripts := goodNode() + goodPart(r.ID)
	for _, need := range slices.Concat(r.Needs, r.Reads) {
		if x, ok := request(scripts, resolveInExamples(need)); ok {
			return x, true
		}
	}
	return evidence.Exchange{}, false
}

// resolveInExamples replaces a role by the resource that holds it at the good node.
func resolveInExamples(l evidence.Label) evidence.Label {
	log := evidence.Log{Roles: evidence.Roles{ProbeTarget: evidence.Info, List: "op/listFundings", Detail: "op/getFunding",
		Operations: []evidence.Resource{"op/listFundings"}}}
	for _, resolved := range log.Resolve(l) {
		return resolved
	}
	return l
}

// goodNode returns the exchanges of the good node that several requirements share.
func goodNode() string {
	var b strings.Builder
	entries, _ := exampleFiles.ReadDir("testdata/good")
	for _, e := range entries {
		data, _ := exampleFiles.ReadFile("testdata/good/" + e.Name())
		b.Write(data)
		b.WriteByte('\n')
	}
	return b.String()
}

// goodPart returns the exchanges of the good node that only this requirement needs.
func goodPart(id ID) string {
	data, _ := exampleFiles.ReadFile("testdata/" + string(id) + ".txtar") // a missing file reads as empty
	for _, f := range txtar.Parse(data).Files {
		if f.Name == "good" {
			return string(f.Data)
		}
	}
	return ""
}

// request reads the request under a label: a request line, header fields, a blank line, a body, up to the answer.
func request(scripts string, label evidence.Label) (evidence.Exchange, bool) {
	x := evidence.Exchange{Label: label}
	var inside, inBody bool
	var body []string
	for line := range strings.Lines(scripts) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.HasPrefix(line, "@ "):
			if inside {
				return x, false // the block has no answer
			}
			name, _, _ := strings.Cut(strings.TrimPrefix(line, "@ "), " ")
			inside = evidence.Label(name) == label
		case !inside || strings.HasPrefix(line, "~ ") || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, ">>>") || strings.HasPrefix(line, "!!!"):
			x.Request.Body = evidence.Body(strings.TrimSpace(strings.Join(body, "\n")))
			return x, x.Request.Method != ""
		case x.Request.Method == "":
			if words := strings.Fields(line); len(words) == 3 {
				x.Request.Method, x.Request.URL = words[0], words[1]
			}
		case inBody:
			body = append(body, line)
		case line == "":
			inBody = true
		default:
			name, value, _ := strings.Cut(line, ":")
			x.Request.Header = append(x.Request.Header, evidence.Field{Name: name, Value: strings.TrimPrefix(value, " ")})
		}
	}
	return x, false
}
