package flow

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"text/template"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/suite/worker"
)

// CertifyNode runs the whole suite against the node, in a process of its own; heard is told how far it is.
func (w *Walk) CertifyNode(ctx context.Context, heard func(worker.Event)) (Result, report.Report) {
	scene := Result{Step: Certify}
	if w.options.Certify == nil {
		return troubled(scene, errors.New("this walk has no suite to run")), report.Report{}
	}
	if !w.locate(ctx, &scene) {
		return scene, report.Report{}
	}
	t := DeriveURLs(w.Target())
	if t.Profile == "" {
		t.Profile = "auth"
		if t.SpecURL != "" {
			t.Profile = "funding"
		}
	}
	result, log, err := w.options.Certify(ctx, t, heard)
	if err != nil {
		scene.Trouble = &Trouble{err.Error(), []string{"see the sentence"}, []string{"try again; rin certify --help says what it needs"}}
		return scene, report.Report{}
	}
	w.mu.Lock()
	w.report, w.log = &result, log
	w.mu.Unlock()
	scene.Notes = []string{result.Verdict.Headline + "."}
	return scene, result
}

// Report is that of the certification, with its evidence; ok is false while there is none.
func (w *Walk) Report() (r report.Report, log *evidence.Log, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.report == nil {
		return report.Report{}, nil, false
	}
	return *w.report, w.log, true
}

// File is one file to take along.
type File struct {
	Name string
	// What says what it is for.
	What  string
	Write func(io.Writer) error
	// Run says that it is a program.
	Run bool
}

// The code that is taken along; templates of the walk's URLs. Secrets come from the environment of whoever runs it.
var (
	//go:embed taken/walk.sh.tmpl
	shellScript string
	//go:embed taken/client.go.tmpl
	goClient string
	//go:embed taken/client.py.tmpl
	pythonClient string
)

// templateData are what the templates know.
type templateData struct {
	TokenURL, InfoURL, SpecURL, ListURL, ClientID string
	// Paged tells that the list is read page by page, with the network's parameters.
	Paged bool
}

// Takeaways are the files of this walk: a shell script, curl lines, clients in Go and Python, the recording and, once the node was
// certified, the report.
func (w *Walk) Takeaways() []File {
	p := w.places()
	files := []File{
		{Name: "walk.sh", What: "the walk as a shell script (needs curl and sed)", Write: renderTemplate(shellScript, p), Run: true},
		{Name: "requests.sh", What: "every request of this walk as a curl line", Write: w.writeCurls},
		{Name: "client.go", What: "the walk in Go, standard library only", Write: renderTemplate(goClient, p)},
		{Name: "client.py", What: "the walk in Python, standard library only", Write: renderTemplate(pythonClient, p)},
		{Name: "walk.har", What: "every exchange of this walk, for the network panel of a browser", Write: w.writeHAR},
	}
	if r, log, ok := w.Report(); ok {
		files = append(files,
			File{Name: "report.html", What: "the conformance report", Write: func(out io.Writer) error { return report.WriteHTML(out, r, log) }},
			File{Name: "report.json", What: "the conformance report for programs", Write: func(out io.Writer) error { return report.WriteJSON(out, r) }},
		)
	}
	return files
}

func (w *Walk) places() templateData {
	t := DeriveURLs(w.Target())
	p := templateData{TokenURL: t.TokenURL, InfoURL: t.InfoURL, SpecURL: t.SpecURL, ClientID: t.Credentials.ClientID}
	if list, ok := w.list(); ok {
		p.ListURL = w.bases()[0].URL(list.Path)
		p.Paged = sizeParameter(list) == "page[size]" && pageParameter(list) == "page[page]"
	}
	return p
}

// renderTemplate writes a template. Its functions quote a text for the language that it stands in: URLs come from a registry.
func renderTemplate(text string, p templateData) func(io.Writer) error {
	return func(out io.Writer) error {
		t, err := template.New("").Funcs(template.FuncMap{"sh": quoteShell, "quoted": quoteASCII}).Parse(text)
		if err != nil {
			return fmt.Errorf("read the template: %w", err)
		}
		var b bytes.Buffer
		if err := t.Execute(&b, p); err != nil {
			return fmt.Errorf("fill the template: %w", err)
		}
		_, err = out.Write(b.Bytes())
		return err
	}
}

// quoteShell is a word of a POSIX shell.
func quoteShell(text string) string {
	var b bytes.Buffer
	b.WriteByte('\'')
	for _, r := range printableASCII(text) {
		if r == '\'' {
			b.WriteString(`'\''`)
			continue
		}
		b.WriteRune(r)
	}
	b.WriteByte('\'')
	return b.String()
}

// quoteASCII is a string literal of Go, and of Python as well.
func quoteASCII(text string) string { return fmt.Sprintf("%+q", printableASCII(text)) }

func printableASCII(text string) string {
	return string(bytes.Map(func(r rune) rune {
		if r < 0x20 || r > 0x7e {
			return -1
		}
		return r
	}, []byte(text)))
}

func (w *Walk) writeCurls(out io.Writer) error {
	var b bytes.Buffer
	b.WriteString("# Every request of this walk. Put the secrets into the environment first: RIN_CLIENT_SECRET, RIN_ACCESS_TOKEN.\n")
	for _, x := range w.History() {
		fmt.Fprintf(&b, "\n# %s: %s\n%s\n", printableASCII(string(x.Label)), answerText(x), evidence.Curl(x))
	}
	_, err := out.Write(b.Bytes())
	return err
}

// answerText is what came of a request, in a few words.
func answerText(x evidence.Exchange) string {
	if x.Response == nil {
		return "no answer"
	}
	return fmt.Sprintf("status %d", x.Status())
}

func (w *Walk) writeHAR(out io.Writer) error {
	return evidence.WriteHAR(out, &evidence.Log{Exchanges: w.History()}, w.options.Suite)
}
