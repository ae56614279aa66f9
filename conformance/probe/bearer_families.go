package probe

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/evidence"
)

// bearerFamilies are bearer values that a node must refuse. A node may refuse one example and accept a thousand others.
func bearerFamilies() []row {
	return slices.Concat(
		bearerFamily(evidence.RandomBearers, randomMembers()...),
		bearerFamily(evidence.WordBearers, wordMembers()...),
		bearerFamily(evidence.NeighbourTokens, neighbourMembers()...),
	)
}

// randomMembers are tokens that were never issued.
func randomMembers() []member {
	return []member{
		{"random-shape", "with a random token in the shape of the good one", func(s draw.Source, good string) string { return s.Like(good) }},
		{"random-length", "with a random token of another length", func(s draw.Source, good string) string {
			return s.Text(alphabetFor(good), s.Between(max(8, len(good)/2), len(good)+20))
		}},
		{"random-without-dots", "with a random token without separators", func(s draw.Source, good string) string {
			return s.Text(draw.Letters+draw.Digits, max(20, min(len(good), 60)))
		}},
		{"random-segments", "with three random segments", func(s draw.Source, _ string) string {
			return s.Text(draw.Base64, 36) + "." + s.Text(draw.Base64, 96) + "." + s.Text(draw.Base64, 86)
		}},
		{"random-claims", "with a JWT of random claims and a random signature", func(s draw.Source, _ string) string {
			segment := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
			header := segment(`{"alg":"` + draw.One(s, "RS256", "ES256", "PS256", "HS256") + `","typ":"JWT","kid":"` + s.Text(draw.Base64, 20) + `"}`)
			return header + "." + segment(`{"iss":"https://`+s.Host()+`","sub":"`+s.Name()+`","exp":4102444800}`) + "." + s.Text(draw.Base64, 86)
		}},
		{"random-uuid", "with a random UUID", func(s draw.Source, _ string) string { return s.UUID() }},
		{"random-hex", "with random hexadecimal digits", func(s draw.Source, _ string) string { return s.Text(draw.Hex, draw.One(s, 32, 40, 64)) }},
		{"random-prefix", "with the prefix of the good token and a random rest", func(s draw.Source, good string) string {
			cut := strings.IndexAny(good, "_-.:") + 1
			if cut == 0 || cut > len(good)-8 {
				cut = len(good) / 4
			}
			return good[:cut] + s.Like(good[cut:])
		}},
	}
}

// alphabetFor returns the alphabet of a token's longest part.
func alphabetFor(token string) string {
	if strings.Trim(token, draw.Hex+"-") == "" {
		return draw.Hex
	}
	return draw.Letters + draw.Digits
}

// wordMembers are short values that a program may mistake for something else.
func wordMembers() []member {
	word := func(kind evidence.Case, words string, values ...string) member {
		return member{kind, words, func(s draw.Source, _ string) string { return draw.One(s, values...) }}
	}
	return []member{
		word("word-null", "with the word of a language for nothing", "null", "undefined", "None", "nil", "NaN", "NULL"),
		word("word-true", "with a truth value", "true", "True", "1", "yes", "on"),
		word("word-false", "with a false value", "false", "0", "no", "-1"),
		word("word-member", "with the name of a member that every object has", "constructor", "__proto__", "toString", "hasOwnProperty", "prototype", "valueOf", "__class__"),
		word("word-wildcard", "with a wildcard", "*", "%", "_", "**", "%25", ".*", "?"),
		word("word-empty-object", "with an empty value of JSON", "{}", "[]", `""`),
		word("word-query", "with an operator of a query language", `'or'1'='1`, `"or"1"="1`, `'||'1'=='1`, `*)(uid=*))(|(uid=*`, `{"$ne":null}`, `{"$gt":""}`),
		word("word-user", "with the name of a user", "admin", "root", "guest", "anonymous", "test", "system", "service"),
		word("word-debug", "with a word of development", "debug", "dev", "dummy", "changeme", "secret", "token", "password", "example", "demo", "letmein"),
		word("word-scheme", "with the name of a scheme", "Bearer", "bearer", "Basic", "JWT", "access_token"),
		{"word-character", "with one character", func(s draw.Source, _ string) string { return s.Text(draw.Letters+draw.Digits, 1) }},
		{"word-number", "with a number", func(s draw.Source, _ string) string { return s.Text("123456789", s.Between(2, 9)) }},
		{"word-date", "with a date", func(s draw.Source, _ string) string {
			return draw.One(s, "2024", "2025", "2026") + "-0" + s.Text("123456789", 1) + "-1" + s.Text(draw.Digits, 1)
		}},
		{"word-address", "with an e-mail address", func(s draw.Source, _ string) string { return s.Word() + "@" + s.Host() }},
		{"word-made-up", "with a made-up word", func(s draw.Source, _ string) string { return s.Word() }},
		{"word-path", "with a path", func(s draw.Source, _ string) string {
			return draw.One(s, "/", "../", "/etc/passwd", "..", ".") + draw.One(s, "", s.Word())
		}},
	}
}

// neighbourMembers are values that differ little from the good token. They neither change the last character of a segment alone nor add padding, because a
// decoder may ignore both (RFC 4648 §3.5).
func neighbourMembers() []member {
	return []member{
		{"cut-start", "with the good token cut at its start", func(s draw.Source, good string) string { return good[min(len(good), s.Between(1, 4)):] }},
		{"cut-end", "with the good token cut at its end", func(s draw.Source, good string) string { return good[:max(0, len(good)-s.Between(4, 8))] }},
		{"cut-half", "with the first half of the good token", func(_ draw.Source, good string) string { return good[:len(good)/2] }},
		{"extended-start", "with text before the good token", func(s draw.Source, good string) string { return s.Text(draw.Letters+draw.Digits, 4) + good }},
		{"extended-end", "with text after the good token", func(s draw.Source, good string) string {
			return good + s.Text(draw.Letters+draw.Digits, s.Between(4, 12))
		}},
		{"extended-segment", "with one segment more than the good token", func(s draw.Source, good string) string {
			return good + "." + s.Text(draw.Base64, 22)
		}},
		{"joined", "with the good token twice", func(_ draw.Source, good string) string { return good + good }},
		{"changed-start", "with the good token, changed in its first segment", changedIn(0)},
		{"changed-middle", "with the good token, changed in its middle segment", changedIn(1)},
		{"changed-end", "with the good token, changed in its last segment", changedIn(2)},
		{"changed-case", "with the case of a letter of the good token changed", changedCase},
		{"segments-swapped", "with two segments of the good token swapped", func(_ draw.Source, good string) string {
			parts := strings.Split(good, ".")
			if len(parts) != 3 {
				return ""
			}
			return parts[1] + "." + parts[0] + "." + parts[2]
		}},
		{"segment-missing", "with the good token without its first segment", func(_ draw.Source, good string) string {
			_, rest, _ := strings.Cut(good, ".")
			return rest
		}},
		{"segment-alone", "with the middle segment of the good token", func(_ draw.Source, good string) string {
			parts := strings.Split(good, ".")
			if len(parts) != 3 {
				return ""
			}
			return parts[1]
		}},
	}
}

// changedIn changes one character of a segment, at a random place before its last character.
func changedIn(n int) func(draw.Source, string) string {
	return func(s draw.Source, good string) string {
		parts := strings.Split(good, ".")
		if len(parts) != 3 { // one segment: its start, middle or end
			third := len(good) / 3
			parts = []string{good[:third], good[third : 2*third], good[2*third:]}
			parts[n] = withChange(s, parts[n])
			return strings.Join(parts, "")
		}
		parts[n] = withChange(s, parts[n])
		return strings.Join(parts, ".")
	}
}

// withChange replaces one letter or digit before the last character by another of its kind.
func withChange(s draw.Source, part string) string {
	var places []int
	for i := range max(0, len(part)-1) {
		if strings.IndexByte(draw.Letters+draw.Digits, part[i]) >= 0 {
			places = append(places, i)
		}
	}
	if len(places) == 0 {
		return part
	}
	i := draw.One(s, places...)
	alphabet := draw.Lower
	switch {
	case strings.IndexByte(draw.Digits, part[i]) >= 0:
		alphabet = draw.Digits
	case strings.IndexByte(draw.Upper, part[i]) >= 0:
		alphabet = draw.Upper
	case strings.IndexByte(draw.Hex, part[i]) >= 0:
		alphabet = "abcdef"
	}
	return part[:i] + s.Text(strings.ReplaceAll(alphabet, part[i:i+1], ""), 1) + part[i+1:]
}

// changedCase changes the case of a letter, if the token has letters of both cases.
func changedCase(s draw.Source, good string) string {
	if !strings.ContainsAny(good, draw.Lower) || !strings.ContainsAny(good, draw.Upper) {
		return ""
	}
	var places []int
	for i := range len(good) - 1 {
		if strings.IndexByte(draw.Letters, good[i]) >= 0 && good[i+1] != '.' {
			places = append(places, i)
		}
	}
	if len(places) == 0 {
		return ""
	}
	i := draw.One(s, places...)
	return good[:i] + string(rune(good[i]^0x20)) + good[i+1:]
}
