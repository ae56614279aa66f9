package terminal

import (
	"bytes"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

const attributes = "\x1b[?62;22c"

// feedAll feeds the chunks to a listener, and returns it with what was typed, the held rest included.
func feedAll(chunks ...string) (*listener, string) {
	l, typed := &listener{}, ""
	for _, c := range chunks {
		typed += string(l.feed([]byte(c)))
	}
	return l, typed + string(l.release())
}

var _ = Describe("The answer of a terminal", func() {
	DescribeTable("sets the background", func(color string, want Background) {
		l, typed := feedAll("\x1b]11;" + color + "\x1b\\" + attributes)
		Expect(l.background).To(Equal(want))
		Expect(l.finished).To(BeTrue())
		Expect(typed).To(BeEmpty())
	},
		Entry("xterm, black", "rgb:0000/0000/0000", Dark),
		Entry("xterm, white", "rgb:ffff/ffff/ffff", Light),
		Entry("two digits", "rgb:fd/f6/e3", Light),
		Entry("one digit", "rgb:1/2/3", Dark),
		Entry("with opacity", "rgba:1e1e/1e1e/2e2e/ffff", Dark),
		Entry("a strong green", "rgb:0000/ffff/0000", Light),
		Entry("a strong blue", "rgb:0000/0000/ffff", Dark),
		Entry("digits that are not hexadecimal", "rgb:zz/zz/zz", Unknown),
		Entry("too few parts", "rgb:ff/ff", Unknown),
		Entry("too many digits", "rgb:fffff/fffff/fffff", Unknown),
		Entry("another kind", "cmyk:0/0/0/0", Unknown),
		Entry("nothing", "", Unknown),
	)

	It("ends with BEL, with ST, and with an ST of which one half is missing", func() {
		for _, end := range []string{"\a", "\x1b\\", "\x1b"} {
			l, typed := feedAll("\x1b]11;rgb:ff/ff/ff" + end + attributes + "x")
			Expect(l.background).To(Equal(Light), "%q", end)
			Expect(typed).To(Equal("x"), "%q", end)
		}
	})

	It("is found between keys, wherever the input is split", func() {
		input := "ab\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b[A" + attributes + "\x1b[Bé"
		for i := range len(input) {
			for j := i; j < len(input); j++ {
				l, typed := feedAll(input[:i], input[i:j], input[j:])
				Expect(typed).To(Equal("ab\x1b[A\x1b[Bé"), "%d %d", i, j)
				Expect(l.background).To(Equal(Light))
			}
		}
	})

	It("makes the listener hold a lone escape until the last answer has come", func() {
		l := &listener{}
		Expect(l.feed([]byte("\x1b"))).To(BeEmpty())
		Expect(string(l.release())).To(Equal("\x1b"))
		l.feed([]byte(attributes))
		Expect(string(l.feed([]byte("\x1b")))).To(Equal("\x1b"))
	})

	It("is not a key when it comes late", func() {
		l, typed := feedAll(attributes, "1", "\x1b]11;rgb:00/00/00\a", "2")
		Expect(typed).To(Equal("12"))
		Expect(l.background).To(Equal(Dark))
	})

	It("is bounded: a longer sequence counts as typed", func() {
		endless := "\x1b]11;" + strings.Repeat("9", 10*maxAnswer)
		_, typed := feedAll(endless)
		Expect(typed).To(Equal(endless))
		_, typed = feedAll(strings.Split(endless, "")...)
		Expect(typed).To(Equal(endless))
	})
})

var _ = DescribeTable("The variable COLORFGBG gives a hint of the background", func(value string, want Background) { Expect(backgroundHint(value)).To(Equal(want)) },
	Entry(nil, "15;0", Dark), Entry(nil, "0;15", Light), Entry(nil, "0;default;15", Light), Entry(nil, "12;8", Dark), Entry(nil, "0;7", Light),
	Entry(nil, "", Unknown), Entry(nil, "15;default", Unknown), Entry(nil, "15;", Unknown), Entry(nil, "red", Unknown),
)

// FuzzAnswer checks that it makes no difference where the input is split, and that only answers are removed.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{"\x1b]11;rgb:ffff/ffff/ffff\x1b\\" + attributes, "abc\x1b[A\x1b]11;\a", "\x1b]11;rgb:1/2/3\x1bx", "\x1b\x1b]\x1b]11;\x1b[?1;2R", "\x1b]52;c;eA==\a"} {
		f.Add([]byte(seed), uint8(3))
	}
	f.Fuzz(func(t *testing.T, input []byte, size uint8) {
		undivided := &listener{}
		typed := append(undivided.feed(input), undivided.release()...)
		pieces, fromPieces := &listener{}, []byte(nil)
		for rest := input; len(rest) > 0; {
			n := min(len(rest), int(size)%8+1)
			fromPieces = append(fromPieces, pieces.feed(rest[:n])...)
			rest = rest[n:]
			if len(pieces.held) > maxAnswer {
				t.Fatalf("holds %d bytes back", len(pieces.held))
			}
		}
		fromPieces = append(fromPieces, pieces.release()...)
		if !pieces.finished && !bytes.Equal(typed, fromPieces) {
			t.Fatalf("typed %q at once, %q in pieces", typed, fromPieces)
		}
		if !bytes.Contains(input, []byte("\x1b]11;")) && !bytes.Contains(input, []byte("\x1b[?")) && !bytes.Equal(typed, input) {
			t.Fatalf("%q became %q", input, typed)
		}
	})
}
