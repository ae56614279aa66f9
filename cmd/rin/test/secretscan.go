package test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// ReadOutput reads a file that a command wrote, for a search. It decompresses a compressed file, whose ".gz" the returned path lacks, and reads all
// files of an archive.
func ReadOutput(path string) (plainPath, text string, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", "", err
	}
	if plainPath, text, err = unpack(path, data); err != nil {
		return "", "", fmt.Errorf("read %s: %w", path, err)
	}
	return plainPath, text, nil
}

func unpack(path string, data []byte) (plainPath, text string, err error) {
	if plainPath, compressed := strings.CutSuffix(path, ".gz"); compressed {
		in, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return "", "", err
		}
		data, err = io.ReadAll(in)
		return plainPath, string(data), err
	}
	if !strings.HasSuffix(path, ".zip") {
		return path, string(data), nil
	}
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return "", "", err
	}
	for _, f := range archive.File {
		content, err := fs.ReadFile(archive, f.Name)
		if err != nil {
			return "", "", err
		}
		_, part, err := unpack(f.Name, content)
		if err != nil {
			return "", "", err
		}
		text += f.Name + "\n" + part + "\n"
	}
	return path, text, nil
}

// prefixLength is the length of the prefixes by which words are looked up at each position of a text.
const prefixLength = 8

// SecretScan searches a text for many words in one pass: tests plant hundreds of secrets, in many forms each, and search megabytes of reports
// and evidence for them. A search for each word, or a suffix array, takes many times as long.
type SecretScan struct {
	byPrefix map[string][]string // words of prefixLength bytes or more
	short    []string
}

// NewSecretScan prepares a search for words. An empty word is found in every text.
func NewSecretScan(words ...string) SecretScan {
	s := SecretScan{byPrefix: make(map[string][]string, len(words))}
	for _, word := range words {
		if len(word) < prefixLength {
			s.short = append(s.short, word)
		} else {
			prefix := word[:prefixLength]
			s.byPrefix[prefix] = append(s.byPrefix[prefix], word)
		}
	}
	return s
}

// In returns one of the words that the text contains, and its position.
func (s SecretScan) In(text string) (word string, at int, found bool) {
	for _, word := range s.short {
		if at := strings.Index(text, word); at >= 0 {
			return word, at, true
		}
	}
	for at := range len(text) - prefixLength + 1 {
		for _, word := range s.byPrefix[text[at:at+prefixLength]] {
			if strings.HasPrefix(text[at:], word) {
				return word, at, true
			}
		}
	}
	return "", 0, false
}
