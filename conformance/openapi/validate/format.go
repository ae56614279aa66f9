package validate

import (
	"encoding/json"
	"errors"
	"math/big"
	"time"
)

// formats are the words of "format" that are judged by rin itself; the others in knownFormat by the JSON Schema library.
func formats() map[string]func(any) error {
	return map[string]func(any) error{
		"date":      onText(isDate),
		"date-time": onText(isDateTime),
		"uuid":      onText(isUUID),
		"int32":     within(31),
		"int64":     within(63),
	}
}

// knownFormat: all other words are open-valued hints (OAS 3.0.3 Data Types).
func knownFormat(format string) bool {
	switch format {
	case "date", "date-time", "uuid", "int32", "int64",
		"email", "uri", "uri-reference", "hostname", "ipv4", "ipv6", "time", "duration":
		return true
	}
	return false
}

var errFormat = errors.New("malformed")

func onText(good func(string) bool) func(any) error {
	return func(value any) error {
		if s, ok := value.(string); ok && !good(s) {
			return errFormat
		}
		return nil
	}
}

// isDate is full-date of RFC 3339 §5.6, with days that exist.
func isDate(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil && len(s) == len(time.DateOnly)
}

// isDateTime is date-time of RFC 3339 §5.6: an offset is due, "t" and "z" may be small (§5.6 note), second 60 only ends an hour.
func isDateTime(s string) bool {
	const least = len("2006-01-02T15:04:05Z")
	if len(s) < least || !isDate(s[:10]) || s[10] != 'T' && s[10] != 't' || s[13] != ':' || s[16] != ':' {
		return false
	}
	hour, minute, second := twoDigits(s[11:13]), twoDigits(s[14:16]), twoDigits(s[17:19])
	if hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60 || second == 60 && minute != 59 {
		return false
	}
	rest := s[19:]
	if rest[0] == '.' {
		n := 1
		for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
			n++
		}
		if n == 1 {
			return false
		}
		rest = rest[n:]
	}
	return isOffset(rest)
}

func isOffset(s string) bool {
	if s == "Z" || s == "z" {
		return true
	}
	if len(s) != len("+01:00") || s[0] != '+' && s[0] != '-' || s[3] != ':' {
		return false
	}
	hour, minute := twoDigits(s[1:3]), twoDigits(s[4:6])
	return hour >= 0 && hour <= 23 && minute >= 0 && minute <= 59
}

func twoDigits(s string) int {
	if s[0] < '0' || s[0] > '9' || s[1] < '0' || s[1] > '9' {
		return -1
	}
	return int(s[0]-'0')*10 + int(s[1]-'0')
}

// isUUID is the text form of RFC 9562 §4, any version.
func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		switch {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return false
			}
		case c >= '0' && c <= '9', c >= 'a' && c <= 'f', c >= 'A' && c <= 'F':
		default:
			return false
		}
	}
	return true
}

// within bounds an integer to signed numbers of bits+1 bits; other numbers are the business of "type".
func within(bits uint) func(any) error {
	return func(value any) error {
		n, ok := value.(json.Number)
		if !ok {
			return nil
		}
		r, ok := new(big.Rat).SetString(string(boundedNumber(n)))
		if !ok || !r.IsInt() {
			return nil
		}
		limit := new(big.Int).Lsh(big.NewInt(1), bits)
		if i := r.Num(); i.Cmp(limit) >= 0 || i.Cmp(new(big.Int).Neg(limit)) < 0 {
			return errFormat
		}
		return nil
	}
}
