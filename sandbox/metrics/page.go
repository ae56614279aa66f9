package metrics

import (
	"bytes"
	"strconv"
	"strings"
)

// MediaType is the media type of a page.
const MediaType = "text/plain; version=0.0.4; charset=utf-8"

// Page is an exposition: families of samples, each family in one piece.
type Page struct{ text bytes.Buffer }

// Bytes is the page as it is sent.
func (p *Page) Bytes() []byte { return p.text.Bytes() }

// Sample is one figure of a family, with names and values of its labels in turn.
type Sample struct {
	Value  float64
	Labels []string
}

// Counter writes a family whose figures only grow. Its name ends in "_total".
func (p *Page) Counter(name, help string, samples ...Sample) {
	p.family(name, "counter", help, samples)
}

// Gauge writes a family whose figures go up and down.
func (p *Page) Gauge(name, help string, samples ...Sample) { p.family(name, "gauge", help, samples) }

func (p *Page) family(name, kind, help string, samples []Sample) {
	p.head(name, kind, help)
	for _, s := range samples {
		p.sample(name, s.Value, s.Labels...)
	}
}

// Node is a node whose requests were counted.
type Node struct {
	ID       string
	Requests *Requests
}

// Requests writes the families of the requests to the nodes.
func (p *Page) Requests(nodes ...Node) {
	const counts, durations = "rin_requests_total", "rin_request_duration_seconds"
	p.head(counts, "counter", "Requests by node, purpose, method and class of the answer's status.")
	for _, n := range nodes {
		n.Requests.writeCounts(p, counts, []string{"node", n.ID})
	}
	p.head(durations, "histogram", "Time from a request's header to the end of its answer.")
	for _, n := range nodes {
		n.Requests.writeDurations(p, durations, []string{"node", n.ID})
	}
}

func (p *Page) head(name, kind, help string) {
	help = strings.NewReplacer(`\`, `\\`, "\n", `\n`).Replace(help)
	p.text.WriteString("# HELP " + name + " " + help + "\n# TYPE " + name + " " + kind + "\n")
}

func (p *Page) sample(name string, value float64, labels ...string) {
	p.text.WriteString(name)
	for i := 0; i+1 < len(labels); i += 2 {
		separator := ","
		if i == 0 {
			separator = "{"
		}
		p.text.WriteString(separator + labels[i] + `="` + escape(labels[i+1]) + `"`)
	}
	if len(labels) > 1 {
		p.text.WriteString("}")
	}
	p.text.WriteString(" " + number(value) + "\n")
}

// escape writes a label's value: backslash, quote and line end are escaped, everything else is UTF-8.
func escape(value string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(strings.ToValidUTF8(value, "�"))
}

func number(value float64) string { return strconv.FormatFloat(value, 'g', -1, 64) }
