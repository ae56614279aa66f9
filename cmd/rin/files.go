package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/rin-network/rin/conformance"
	"github.com/rin-network/rin/conformance/report"
)

// evidenceFile is always written: it is what every report can be made from again.
const evidenceFile = "evidence.jsonl"

// reportFile is one file of a report.
type reportFile struct {
	format, name string
	write        func(io.Writer, conformance.Result) error
}

func reportFiles() []reportFile {
	return []reportFile{
		{"html", "report.html", func(w io.Writer, r conformance.Result) error { return report.WriteHTML(w, r.Report, r.Log) }},
		{"json", "report.json", func(w io.Writer, r conformance.Result) error { return report.WriteJSON(w, r.Report) }},
		{"junit", "junit.xml", func(w io.Writer, r conformance.Result) error { return report.WriteJUnit(w, r.Report) }},
		{"har", "exchanges.har", func(w io.Writer, r conformance.Result) error { return report.WriteHAR(w, r.Log, version()) }},
		{"markdown", "report.md", func(w io.Writer, r conformance.Result) error { return report.WriteMarkdown(w, r.Report) }},
	}
}

func reportNames() []string {
	var out []string
	for _, f := range reportFiles() {
		out = append(out, f.format)
	}
	return out
}

// check refuses formats that do not exist, before anything is sent.
func (o outputFlags) check() error {
	for _, f := range o.formats {
		if !slices.Contains(reportNames(), f) {
			return usage(fmt.Errorf("--format: %q is no report format", f), fmt.Sprintf("choose from %v", reportNames()))
		}
	}
	return nil
}

// first is the path of the file that a person opens first.
func (o outputFlags) first() string {
	for _, f := range reportFiles() {
		if slices.Contains(o.formats, f.format) {
			return filepath.Join(o.dir, f.name)
		}
	}
	return o.dir
}

// write makes every chosen file anew; a file is complete or not there.
func (o outputFlags) write(r conformance.Result) error {
	for _, f := range reportFiles() {
		if !slices.Contains(o.formats, f.format) {
			continue
		}
		if err := replace(filepath.Join(o.dir, f.name), 0o644, func(w io.Writer) error { return f.write(w, r) }); err != nil {
			return internal(fmt.Errorf("write %s: %w", f.name, err))
		}
	}
	return nil
}

// replace writes a file beside its place and moves it there.
func replace(path string, mode fs.FileMode, write func(io.Writer) error) (err error) {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	if err = errors.Join(write(file), file.Chmod(mode), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
