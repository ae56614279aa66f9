package constraint

import (
	"fmt"
	"regexp"
	"time"

	"github.com/dlclark/regexp2"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// patternTime bounds one match of a pattern that needs backtracking.
const patternTime = 50 * time.Millisecond

// compilePattern reads a regular expression of a document. Patterns are ECMAScript (OAS 3.0.3 §4.7.24); those that Go's own engine
// understands run there in linear time, the others (look-ahead, back references) with a limit on time.
func compilePattern(pattern string) (jsonschema.Regexp, error) {
	if re, err := regexp.Compile(pattern); err == nil {
		return re, nil
	}
	re, err := regexp2.Compile(pattern, regexp2.ECMAScript)
	if err != nil {
		return nil, fmt.Errorf("read pattern: %w", err)
	}
	re.MatchTimeout = patternTime
	return backtracking{re}, nil
}

type backtracking struct{ *regexp2.Regexp }

// MatchString counts what takes too long as no match: it would be refused anyhow, and no time is lost on it.
func (b backtracking) MatchString(s string) bool {
	matched, err := b.Regexp.MatchString(s)
	return err == nil && matched
}
