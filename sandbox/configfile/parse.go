package configfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The limits of a file.
const (
	maxFile   = 1 << 20 // bytes
	maxValues = 50_000  // values; those of an alias count at each use
	maxText   = 4096    // bytes of a value
	maxMerges = 4       // merges (<<) within each other
	maxList   = 1000    // items of a list of a node
)

// parse reads the only document of a file as nodes. It converts no values and follows no aliases.
func parse(data []byte) (*yaml.Node, *Fault) {
	fileFault := func(expected, got, hint string) *Fault {
		return &Fault{Line: 1, Column: 1, Expected: expected, Got: got, Hint: hint}
	}
	if len(data) > maxFile {
		return nil, fileFault("a file of at most 1 MiB", fmt.Sprintf("%d bytes", len(data)), "name the file of the configuration")
	}
	if json.Valid(data) { // JSON may be indented with tabs, but YAML may not; strings of valid JSON have no tabs
		data = bytes.ReplaceAll(data, []byte("\t"), []byte(" "))
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var document, second yaml.Node
	if err := decoder.Decode(&document); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, fileFault("keys such as nodes", "an empty file", "rin sandbox --example-config prints an example")
		}
		return nil, newSyntaxFault(data, err)
	}
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		at := max(second.Line, 1)
		return nil, &Fault{Line: at, Column: 1, Expected: "one document", Got: "another after ---", Hint: "put everything into one"}
	}
	return document.Content[0], nil
}

// maxSearched limits the bytes that newSyntaxFault parses again to find the line of a syntax error.
const maxSearched = 16 << 20

// newSyntaxFault makes the fault for a text that is not YAML. The parser often names the line where the block with the error begins. Therefore
// newSyntaxFault searches the line itself: it is the line after the longest beginning of the file that the parser can read.
func newSyntaxFault(data []byte, err error) *Fault {
	f := &Fault{Line: 1, Column: 1, Expected: "YAML or JSON", Got: "a text that is neither: " + err.Error(), Hint: "indent with blanks, and quote texts that hold a colon, a # or a quote"}
	if found := regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)`).FindStringSubmatch(err.Error()); found != nil {
		f.Got = "a text that is neither: " + found[2]
		if line, err := strconv.Atoi(found[1]); err == nil {
			f.Line = line
		}
	}
	if start := bytes.TrimSpace(data); len(start) > 0 && start[0] == '{' {
		f.locateInJSON(data)
		return f
	}
	lines := bytes.SplitAfter(data, []byte("\n"))
	end, searched := len(data), 0
	for i := len(lines) - 1; i >= 0; i-- {
		end -= len(lines[i])
		searched += end
		if searched > maxSearched {
			break
		}
		var part yaml.Node
		if yaml.Unmarshal(data[:end], &part) == nil {
			f.Line = i + 1
			break
		}
	}
	return f
}

// locateInJSON sets the place of the syntax error in a text that is meant to be JSON.
func (f *Fault) locateInJSON(data []byte) {
	var wrong *json.SyntaxError
	if err := json.Unmarshal(data, new(any)); !errors.As(err, &wrong) {
		return
	}
	before := data[:min(len(data), max(0, int(wrong.Offset)-1))]
	f.Line = bytes.Count(before, []byte("\n")) + 1
	f.Column = len(before) - bytes.LastIndexByte(before, '\n')
	f.Got, f.Hint = "a text that is neither: "+wrong.Error(), "JSON has quotes around names, and no comma after the last value"
}

// Fault is an error in a file.
type Fault struct {
	// Line and Column are the place of the fault, from 1.
	Line, Column int
	// Path names the place by its keys: nodes[1].flavour. It is empty for a fault of the whole file.
	Path string
	// Expected says what belongs there, Got what was found, without secrets.
	Expected, Got string
	// Hint says how to correct the fault; it may be empty.
	Hint string
}

// Error implements error.
func (f Fault) Error() string {
	place := f.Path
	if place != "" {
		place += ": "
	}
	return fmt.Sprintf("line %d, column %d: %sexpected %s, got %s", f.Line, f.Column, place, f.Expected, f.Got)
}

// Faults are all faults of a file, in the order of their lines.
type Faults []Fault

// Error implements error.
func (f Faults) Error() string {
	lines := make([]string, 0, len(f))
	for _, fault := range f {
		lines = append(lines, fault.Error())
	}
	return strings.Join(lines, "\n")
}
