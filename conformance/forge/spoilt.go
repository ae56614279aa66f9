package forge

import (
	"io"
	"strings"
)

// letters are what random secrets are made of.
const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// Misspelt is the secret with one thing changed: the case of the letter nearest to its middle, or a random letter in the middle of
// one that has none. One attempt thus finds a secret that is ignored, compared by its beginning, by its end, or without case.
func Misspelt(secret string, random io.Reader) (string, error) {
	wrong := []byte(secret)
	middle := len(wrong) / 2
	if i, found := letterNear(secret, middle); found {
		wrong[i] ^= 0x20
		return string(wrong), nil
	}
	if len(wrong) == 0 {
		return "", nil
	}
	var b [1]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", err
	}
	wrong[middle] = letters[int(b[0])%len(letters)] // there was no letter before
	return string(wrong), nil
}

// Tampered is a token with one character in the middle of its last segment that is not empty changed: the case of the letter that
// stands nearest there, so that one request finds a signature that is not verified, one compared by its beginning and one compared
// without case. The last character is left alone: its low bits may be padding (RFC 4648 §3.5), and the token would stay what it was.
func Tampered(token string) string {
	end := len(strings.TrimRight(token, "."))
	start := strings.LastIndexByte(token[:end], '.') + 1
	if end == 0 {
		return token + "A"
	}
	middle := start + (end-start)/2
	if i, found := letterNear(token[start:end-1], middle-start); found {
		middle = start + i
		return token[:middle] + string(rune(token[middle]^0x20)) + token[middle+1:]
	}
	other := byte('A')
	if token[middle] == other {
		other = 'B'
	}
	return token[:middle] + string(other) + token[middle+1:]
}

// letterNear finds the letter of a text that stands nearest to a place.
func letterNear(text string, at int) (i int, found bool) {
	isLetter := func(i int) bool {
		return i >= 0 && i < len(text) && (text[i] >= 'a' && text[i] <= 'z' || text[i] >= 'A' && text[i] <= 'Z')
	}
	for d := range len(text) + 1 {
		for _, i := range []int{at - d, at + d} {
			if isLetter(i) {
				return i, true
			}
		}
	}
	return 0, false
}
