package test_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rin-network/rin/cmd/rin/test"
)

func TestReadOutputUnpacks(t *testing.T) {
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	for _, name := range []string{"a/page.html", "a/evidence.gz"} {
		in, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		var out io.Writer = in
		if compressed := gzip.NewWriter(in); name == "a/evidence.gz" {
			out = compressed
		}
		fmt.Fprintf(out, "the text of %s", name)
		if closer, ok := out.(io.Closer); ok {
			_ = closer.Close()
		}
	}
	path := filepath.Join(t.TempDir(), "run.zip")
	if err := errors.Join(z.Close(), os.WriteFile(path, packed.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	_, text, err := test.ReadOutput(path)
	if err != nil || !strings.Contains(text, "the text of a/page.html") || !strings.Contains(text, "the text of a/evidence.gz") {
		t.Errorf("expected the texts of both files, got %q, %v", text, err)
	}
}

func TestSearch(t *testing.T) {
	s := test.NewSecretScan("abc", "12345678", "123456789", "12345678x", "secret-of-somebody")
	for _, c := range []struct {
		text, word string
		at         int
	}{
		{"abc", "abc", 0},
		{"an abc", "abc", 3},
		{"12345678", "12345678", 0},
		{"012345678", "12345678", 1},
		{strings.Repeat("1234567", 9) + "8", "12345678", 56},
		{"a secret-of-somebody", "secret-of-somebody", 2},
	} {
		if word, at, found := s.In(c.text); !found || word != c.word || at != c.at {
			t.Errorf("in %q: expected %q at %d, got %q at %d, %t", c.text, c.word, c.at, word, at, found)
		}
	}
	for _, text := range []string{"", "ab", "1234567", "secret-of-somebod", "ecret-of-somebody", "\x00\x00\x00\x00\x00\x00\x00\x00"} {
		if word, at, found := s.In(text); found {
			t.Errorf("in %q: expected nothing, got %q at %d", text, word, at)
		}
	}
}

// FuzzSearch compares with the search of the standard library.
func FuzzSearch(f *testing.F) {
	f.Add("a secret of nobody, and more", "a secret", "nobody, and")
	f.Add("\x00\x00\x00\x00\x00\x00\x00\x00", "\x00", "\x00\x00\x00\x00\x00\x00\x00\x00")
	f.Add("short", "longer than it", "")
	f.Fuzz(func(t *testing.T, text, one, other string) {
		word, at, found := test.NewSecretScan(one, other).In(text)
		if expected := strings.Contains(text, one) || strings.Contains(text, other); found != expected {
			t.Fatalf("%q, %q in %q: expected %t, got %t", one, other, text, expected, found)
		}
		if found && !strings.HasPrefix(text[at:], word) {
			t.Fatalf("%q is not at %d of %q", word, at, text)
		}
	})
}
