package requirement

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/exchange"
)

// bearerChallenges reads the Bearer challenges of an answer as attributes by lower-case name. Each header line is read on its own, so
// that a broken one hides no good one; of a broken line whatever can be read counts, because its form is BRR-04's business.
func bearerChallenges(x exchange.Exchange) []map[string]string {
	var out []map[string]string
	for _, line := range header(x, "WWW-Authenticate") {
		challenges, err := exchange.ParseChallenges([]string{line})
		if err != nil {
			if attributes, ok := salvage(line); ok {
				out = append(out, attributes)
			}
			continue
		}
		for _, c := range challenges {
			if strings.EqualFold(c.Scheme, "Bearer") {
				out = append(out, attributesOf(c))
			}
		}
	}
	return out
}

func attributesOf(c exchange.Challenge) map[string]string {
	attributes := map[string]string{}
	for _, p := range c.Params {
		if name := strings.ToLower(p.Name); attributes[name] == "" {
			attributes[name] = p.Value
		}
	}
	return attributes
}

// salvage reads what it can of a line that is not a list of challenges.
func salvage(line string) (map[string]string, bool) {
	words := strings.FieldsFunc(strings.ToLower(line), func(r rune) bool { return r == ' ' || r == '\t' || r == ',' })
	if !slices.Contains(words, "bearer") {
		return nil, false
	}
	attributes := map[string]string{}
	for _, w := range words {
		if name, value, ok := strings.Cut(w, "="); ok && attributes[name] == "" {
			attributes[name] = strings.Trim(value, `"`)
		}
	}
	return attributes, true
}

// attribute is the value of an attribute in the first Bearer challenge that has it.
func attribute(challenges []map[string]string, name string) string {
	for _, c := range challenges {
		if c[name] != "" {
			return c[name]
		}
	}
	return ""
}

// onlyBasic is an answer that asks for Basic and not for Bearer.
func onlyBasic(x exchange.Exchange) bool {
	if len(bearerChallenges(x)) > 0 {
		return false
	}
	return slices.ContainsFunc(header(x, "WWW-Authenticate"), func(line string) bool {
		return len(line) >= 5 && strings.EqualFold(line[:5], "Basic")
	})
}

// challengeFaults lists what is wrong with one WWW-Authenticate line (RFC 9110 §11.2 and §11.6.1, RFC 6750 §3).
func challengeFaults(line string) []string {
	challenges, err := exchange.ParseChallenges([]string{line})
	if err != nil {
		return []string{clip(err.Error())}
	}
	var faults []string
	for _, c := range challenges {
		seen := map[string]bool{}
		for _, p := range c.Params {
			name := strings.ToLower(p.Name)
			if seen[name] {
				faults = append(faults, fmt.Sprintf("%s appears more than once in the %s challenge", clip(name), clip(c.Scheme)))
			}
			seen[name] = true
			if bad, ok := outsideAlphabet(name, p.Value); ok && strings.EqualFold(c.Scheme, "Bearer") {
				faults = append(faults, fmt.Sprintf("%s holds %q, which its alphabet does not have", name, bad))
			}
		}
	}
	return faults
}

// outsideAlphabet finds the first character that RFC 6750 §3 does not allow in the value of an attribute it defines.
func outsideAlphabet(name, value string) (rune, bool) {
	blank := true
	switch name {
	case "scope", "error", "error_description":
	case "error_uri":
		blank = false
	default:
		return 0, false
	}
	for _, r := range value {
		allowed := r == 0x21 || r >= 0x23 && r <= 0x5B || r >= 0x5D && r <= 0x7E || r == ' ' && blank
		if !allowed {
			return r, true
		}
	}
	return 0, false
}
