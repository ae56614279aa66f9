package openapi

// plain reports a body that is certainly within the bounds of a value, by one look at its bytes: few values, flat, and without numbers that
// are dear to compute with. Nearly all bodies are, and then encoding/json reads them three times as fast as value by value. What is no
// JSON may be called plain; reading tells.
func plain(body []byte) bool {
	level, values, digits := 0, 1, 0
	for i := 0; i < len(body); i++ {
		c := body[i]
		if '0' <= c && c <= '9' || c == '.' {
			if digits++; digits >= maxDigits {
				return false
			}
			continue
		}
		switch c {
		case '"':
			for i++; i < len(body) && body[i] != '"'; i++ {
				if body[i] == '\\' {
					i++
				}
			}
		case '[', '{':
			level++
			values++
		case ']', '}':
			level--
		case ',', ':':
			values++
		case 'e', 'E':
			if digits > 0 {
				return false // an exponent
			}
		}
		digits = 0
		if level > maxLevels || values > maxValues {
			return false
		}
	}
	return true
}
