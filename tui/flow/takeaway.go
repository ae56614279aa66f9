package flow

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/template"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/suite/worker"
)

// CertifyNode runs the conformance suite against the node and reports its progress to onEvent. Afterwards, [Walk.Report] has the report.
func (w *Walk) CertifyNode(ctx context.Context, onEvent func(worker.Event)) Result {
	result := Result{Step: Certify}
	if w.options.Certify == nil {
		result.Trouble = localTrouble(errors.New("this tour has no conformance suite"))
		return result
	}
	if !w.ensureNode(ctx, &result) {
		return result
	}
	t := DeriveURLs(w.Target())
	if t.Profile == "" {
		t.Profile = "auth"
		if t.SpecURL != "" {
			t.Profile = "funding"
		}
	}
	certification, log, err := w.options.Certify(ctx, t, onEvent)
	if err != nil {
		result.Trouble = &Trouble{err.Error(), []string{"see the message above"}, []string{"try again; rin certify --help lists what it needs"}}
		return result
	}
	w.mu.Lock()
	w.report, w.evidence = &certification, log
	w.mu.Unlock()
	result.Notes = []string{certification.Verdict.Headline + "."}
	return result
}

// Report returns the report of the certification and its evidence; ok is false while there is none.
func (w *Walk) Report() (r report.Report, log *evidence.Log, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.report == nil {
		return report.Report{}, nil, false
	}
	return *w.report, w.evidence, true
}

// File is a file that a person takes home from the tour.
type File struct {
	Name string
	// Purpose is one phrase for a list of files.
	Purpose    string
	Executable bool
	Write      func(io.Writer) error
}

// Templates of client code for this node. The code reads its secrets from the environment.
var (
	//go:embed takeaway/client.sh.tmpl
	shellClient string
	//go:embed takeaway/client.go.tmpl
	goClient string
	//go:embed takeaway/client.py.tmpl
	pythonClient string
	//go:embed takeaway/client.ts.tmpl
	typeScriptClient string
	//go:embed takeaway/README.md.tmpl
	takeawayReadme string
)

// templateData fills the templates.
type templateData struct {
	TokenURL, ListURL, ClientID string
	// SizeParameter and PageParameter choose a page of the list; both are empty if the document describes no pages.
	SizeParameter, PageParameter string
	PageSize                     int
	// CountsRecords reports whether PageParameter is the number of records to skip, not the number of a page.
	CountsRecords bool
	// RestartCommand restarts the node if it ended with the tour; else "".
	RestartCommand string
}

// takeawayPageSize is the page size of the clients, unless the document allows less.
const takeawayPageSize = 100

// Takeaways returns the files of this tour: clients in four languages, curl commands, a recording and, after a certification, its report.
func (w *Walk) Takeaways() []File {
	data := w.templateData()
	files := []File{
		{Name: "README.md", Purpose: "how to run the clients, and against which node", Write: renderTemplate(takeawayReadme, data)},
		{Name: "client.sh", Purpose: "a client in shell (needs curl and jq)", Write: renderTemplate(shellClient, data), Executable: true},
		{Name: "client.go", Purpose: "a client in Go, standard library only", Write: renderTemplate(goClient, data)},
		{Name: "client.py", Purpose: "a client in Python, standard library only", Write: renderTemplate(pythonClient, data)},
		{Name: "client.ts", Purpose: "a client in TypeScript, for Node.js without packages", Write: renderTemplate(typeScriptClient, data)},
		{Name: "requests.sh", Purpose: "every request of this tour as a curl command", Write: w.writeCurls},
		{Name: "walk.har", Purpose: "every exchange of this tour, for the network panel of a browser", Write: w.writeHAR},
	}
	if r, log, ok := w.Report(); ok {
		files = append(files,
			File{Name: "report.html", Purpose: "the conformance report", Write: func(out io.Writer) error { return report.WriteHTML(out, r, log) }},
			File{Name: "report.json", Purpose: "the conformance report for programs", Write: func(out io.Writer) error { return report.WriteJSON(out, r) }},
		)
	}
	return files
}

func (w *Walk) templateData() templateData {
	t := DeriveURLs(w.Target())
	data := templateData{TokenURL: t.TokenURL, ClientID: t.Credentials.ClientID, PageSize: takeawayPageSize, RestartCommand: w.RestartCommand()}
	list, ok := w.list()
	if !ok {
		return data
	}
	data.ListURL = w.bases(list)[0].URL(list.Path)
	data.SizeParameter, data.PageParameter = sizeParameter(list), pageParameter(list)
	data.CountsRecords = countsRecords(data.PageParameter)
	for _, p := range list.Parameters {
		if maximum := p.Schema.Maximum; p.Name == data.SizeParameter && maximum != nil && *maximum >= 2 {
			largest := *maximum
			if p.Schema.ExclusiveMaximum {
				largest--
			}
			data.PageSize = int(min(largest, takeawayPageSize))
		}
	}
	return data
}

// NodeEnds tells a person that the node ends with the tour, and announces the command that [Walk.RestartCommand] returns.
const NodeEnds = "This node ends with the tour. The clients need a node that runs: start the same node again with the command below. It has the same addresses, client and secret, and it prints the secret:"

// RestartCommand returns the command that restarts the node of this walk after the tour, if the node ends with the tour; else "".
func (w *Walk) RestartCommand() string {
	if w.options.RestartCommand == nil {
		return ""
	}
	return w.options.RestartCommand(w.Target())
}

// renderTemplate fills a template. The functions of the template quote values for its language, because URLs come from a registry.
func renderTemplate(text string, data templateData) func(io.Writer) error {
	return func(out io.Writer) error {
		t, err := template.New("").Funcs(template.FuncMap{"sh": evidence.ShellWord, "quoted": quoteASCII}).Parse(text)
		if err != nil {
			return fmt.Errorf("parse template: %w", err)
		}
		var b bytes.Buffer
		if err := t.Execute(&b, data); err != nil {
			return fmt.Errorf("fill template: %w", err)
		}
		_, err = out.Write(b.Bytes())
		return err
	}
}

// quoteASCII quotes a text as a string literal of both Go and Python.
func quoteASCII(text string) string { return fmt.Sprintf("%+q", printableASCII(text)) }

func printableASCII(text string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r > 0x7e {
			return -1
		}
		return r
	}, text)
}

func (w *Walk) writeCurls(out io.Writer) error {
	var b bytes.Buffer
	b.WriteString("# Every request of this tour. Set the secrets in the environment first: RIN_CLIENT_SECRET, RIN_ACCESS_TOKEN.\n")
	for _, x := range w.History() {
		outcome := "no answer"
		if x.Response != nil {
			outcome = fmt.Sprintf("status %d", x.Status())
		}
		fmt.Fprintf(&b, "\n# %s: %s\n%s\n", printableASCII(cmp.Or(string(x.Label), x.Words)), outcome, evidence.Curl(x))
	}
	_, err := out.Write(b.Bytes())
	return err
}

func (w *Walk) writeHAR(out io.Writer) error {
	return evidence.WriteHAR(out, &evidence.Log{Exchanges: w.History()}, w.options.Suite)
}
