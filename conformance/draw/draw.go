// Package draw chooses what a run sends.
//
// A node that knows what it will be asked can be written to pass. So a run draws the members of each family of requests (see [Choice]) and
// every made-up value by a seed that differs from run to run. The same seed draws the same again.
package draw

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// Seed chooses everything that is drawn in a run. Zero means that no seed was chosen yet.
type Seed uint64

// maxSeed keeps seeds short enough to be typed, and exact in every reader of JSON.
const maxSeed = 1 << 40

// NewSeed draws a seed.
func NewSeed(random io.Reader) (Seed, error) {
	var b [8]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return 0, fmt.Errorf("draw the seed of the run: %w", err)
	}
	return Seed(1 + binary.BigEndian.Uint64(b[:])%maxSeed), nil
}

// ParseSeed reads a seed that an earlier run printed.
func ParseSeed(text string) (Seed, error) {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n == 0 || n > maxSeed {
		return 0, fmt.Errorf("expected a number from 1 to %d, got %q", uint64(maxSeed), text)
	}
	return Seed(n), nil
}

// String returns the seed as [ParseSeed] reads it; "" for no seed.
func (s Seed) String() string {
	if s == 0 {
		return ""
	}
	return strconv.FormatUint(uint64(s), 10)
}

// Source returns the random values for one purpose, such as the label of a request. Draws for one purpose do not change those for another,
// in whatever order requests are sent.
func (s Seed) Source(purpose ...string) Source {
	sum := sha256.Sum256([]byte(s.String() + "\x00" + strings.Join(purpose, "\x00")))
	bytes := rand.NewChaCha8(sum)
	return Source{rand.New(bytes), bytes}
}

// Source draws values. It is not safe for concurrent use.
type Source struct {
	random *rand.Rand
	io.Reader
}

// The alphabets of drawn text.
const (
	Lower   = "abcdefghijklmnopqrstuvwxyz"
	Upper   = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	Digits  = "0123456789"
	Hex     = "0123456789abcdef"
	Base64  = Upper + Lower + Digits + "-_"
	Letters = Upper + Lower
)

// Below returns a number from 0 to n-1; 0 if n is less than 2.
func (s Source) Below(n int) int {
	if n < 2 {
		return 0
	}
	return s.random.IntN(n)
}

// Between returns a number from least to most.
func (s Source) Between(least, most int) int { return least + s.Below(most-least+1) }

// One returns one of the values. It is not inlined at its 150 calls, which keeps the program smaller.
//
//go:noinline
func One[T any](s Source, values ...T) T { return values[s.Below(len(values))] }

// Shuffle changes the order of the values.
func Shuffle[T any](s Source, values []T) {
	s.random.Shuffle(len(values), func(i, j int) { values[i], values[j] = values[j], values[i] })
}

// Text returns n characters of an alphabet.
func (s Source) Text(alphabet string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[s.random.IntN(len(alphabet))]
	}
	return string(b)
}

// UUID returns a random UUID (RFC 9562 §5.4).
func (s Source) UUID() string {
	h := s.Text(Hex, 32)
	return h[:8] + "-" + h[8:12] + "-4" + h[13:16] + "-" + One(s, "8", "9", "a", "b") + h[17:20] + "-" + h[20:]
}

// Word returns a made-up word of 5 to 9 letters, as people name hosts, parameters and clients.
func (s Source) Word() string {
	const consonants, vowels = "bcdfghjklmnprstvwz", "aeiou"
	n, b := s.Between(5, 9), strings.Builder{}
	for i := range n {
		if i%2 == 0 {
			b.WriteByte(consonants[s.Below(len(consonants))])
		} else {
			b.WriteByte(vowels[s.Below(len(vowels))])
		}
	}
	return b.String()
}

// Name returns a made-up name of two words, joined as programmers join them.
func (s Source) Name() string { return s.Word() + One(s, "-", "_", "", ".") + s.Word() }

// Host returns the name of a host that does not exist: its top-level domain is reserved (RFC 2606 §2, RFC 6761 §6), or it is below a
// domain that is reserved for documents.
func (s Source) Host() string {
	return s.Word() + "." + s.Word() + One(s, ".example", ".example.org", ".example.com", ".example.net", ".test", ".invalid")
}

// Like returns a random value in the shape of an example: the same length, and in each place a character of the same kind. Separators
// and other special characters stay.
func (s Source) Like(example string) string {
	b := []byte(example)
	hexadecimal := isHexadecimal(example)
	for i, c := range b {
		switch {
		case hexadecimal && (c >= '0' && c <= '9' || c >= 'a' && c <= 'f'):
			b[i] = s.Text(Hex, 1)[0]
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
			b[i] = s.Text(alphabetOf(example), 1)[0]
		}
	}
	if string(b) == example && strings.ContainsAny(example, Letters+Digits) {
		return s.Like(example)
	}
	return string(b)
}

// isHexadecimal reports whether all letters of a text are from a to f, as in a UUID.
func isHexadecimal(text string) bool {
	return strings.ContainsAny(text, "abcdef") && !strings.ContainsAny(text, "ghijklmnopqrstuvwxyz"+Upper)
}

// alphabetOf returns the letters and digits of the kinds that a text has.
func alphabetOf(text string) string {
	out := ""
	for _, kind := range []string{Lower, Upper, Digits} {
		if strings.ContainsAny(text, kind) {
			out += kind
		}
	}
	return out
}

// Effort says how many kinds of each family are drawn.
type Effort string

// The efforts.
const (
	Quick    Effort = "quick"    // a partial run
	Standard Effort = "standard" // what a certificate needs
	Deep     Effort = "deep"     // every kind, on the resource that the bearer rules are tried on
)

// Efforts lists all efforts, the least first.
func Efforts() []Effort { return []Effort{Quick, Standard, Deep} }

// Choice draws kinds from families. A family is a set of kinds of requests that a rule forbids or allows alike, such as all bearer
// values that are words of programming languages.
type Choice struct {
	Seed Seed
	// Earlier holds the kinds that earlier runs at the node drew, by family. Kinds that were never drawn come first.
	Earlier map[string][]string
}

// Kinds draws n of the kinds of a family for one place, such as an operation. Each place has a draw of its own.
func (c Choice) Kinds(family, place string, kinds []string, n int) []string {
	out := slices.Clone(kinds)
	Shuffle(c.Seed.Source("family", family, place), out)
	slices.SortStableFunc(out, func(a, b string) int {
		return cmp.Compare(c.rankOf(family, a), c.rankOf(family, b))
	})
	return out[:min(len(out), max(0, n))]
}

// rankOf returns 1 for a kind that an earlier run drew, and 0 for one that no run drew.
func (c Choice) rankOf(family, kind string) int {
	if slices.Contains(c.Earlier[family], kind) {
		return 1
	}
	return 0
}
