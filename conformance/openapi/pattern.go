package openapi

import (
	"fmt"
	"regexp"
	"sync/atomic"
	"time"

	"github.com/dlclark/regexp2"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// patternTime bounds one match of a pattern that needs backtracking.
const patternTime = 50 * time.Millisecond

// compilePattern reads a regular expression of a document. Patterns are ECMAScript (OAS 3.0.3 Schema Object); those that Go's own engine
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
	return &backtracking{re: re}, nil
}

// backtracking is a pattern that gives up for good once it was too slow: many slow matches would add up.
type backtracking struct {
	re     *regexp2.Regexp
	gaveUp atomic.Bool
}

func (b *backtracking) String() string { return b.re.String() }

// MatchString counts as matched what could not be decided in time: no finding without proof.
func (b *backtracking) MatchString(s string) bool {
	if b.gaveUp.Load() {
		return true
	}
	matched, err := b.re.MatchString(s)
	if err != nil {
		b.gaveUp.Store(true)
		return true
	}
	return matched
}
