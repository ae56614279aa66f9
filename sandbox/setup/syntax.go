package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// maxSearched is how many bytes are read again to find the line of a mistake.
const maxSearched = 16 << 20

// unreadable is the fault of a text that is no YAML. The parser often names the line where the block begins that the mistake is in, so
// that the line is looked for: it is the one after the longest part of the file that can be read.
func unreadable(data []byte, err error) *Fault {
	f := &Fault{Line: 1, Column: 1, Expected: "YAML or JSON", Got: "a text that is neither: " + err.Error(), Hint: "indent with blanks, and quote texts that hold a colon, a # or a quote"}
	if found := regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)`).FindStringSubmatch(err.Error()); found != nil {
		f.Got = "a text that is neither: " + found[2]
		if line, err := strconv.Atoi(found[1]); err == nil {
			f.Line = line
		}
	}
	if start := bytes.TrimSpace(data); len(start) > 0 && start[0] == '{' {
		f.inJSON(data)
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

// inJSON tells what is wrong with a text that is meant to be JSON.
func (f *Fault) inJSON(data []byte) {
	var wrong *json.SyntaxError
	if err := json.Unmarshal(data, new(any)); !errors.As(err, &wrong) {
		return
	}
	before := data[:min(len(data), max(0, int(wrong.Offset)-1))]
	f.Line = bytes.Count(before, []byte("\n")) + 1
	f.Column = len(before) - bytes.LastIndexByte(before, '\n')
	f.Got, f.Hint = "a text that is neither: "+wrong.Error(), "JSON has quotes around names, and no comma after the last value"
}
