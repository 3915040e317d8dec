package utp

import (
	"errors"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	// plainDigits is how many digits survive a conversion to a double and back.
	plainDigits = 15
	// shortest is the maximum number of digits in the canonical form of a double.
	shortest = 17
	// farExponent stands for every exponent beyond the range of a double.
	farExponent = 1 << 40
)

// exactNumber reports whether the canonical form of a JSON number is the same decimal number. It leaves text that is
// not a JSON number to the parser.
func exactNumber(literal []byte) bool {
	if len(literal) <= plainDigits && !hasExponent(literal) {
		return true
	}
	f, err := strconv.ParseFloat(string(literal), 64)
	if err != nil {
		return errors.Is(err, strconv.ErrSyntax)
	}
	exact, ok := parseDecimal(literal)
	if !ok {
		return false
	}
	var buf [32]byte
	carried, ok := parseDecimal(jsontext.AppendFloat(buf[:0], f, 64))
	return ok && exact == carried
}

func hasExponent(literal []byte) bool {
	for _, c := range literal {
		if c == 'e' || c == 'E' {
			return true
		}
	}
	return false
}

// decimal is the exact value 0.d₁d₂…dₙ × 10^exponent, where d₁ and dₙ are not 0; zero has no digits. Two decimals are
// the same number exactly if they are equal.
type decimal struct {
	negative bool
	digits   [shortest]byte
	exponent int
}

// parseDecimal reads a number exactly. It returns false if the number has more digits than the canonical form of any
// double. Its time and space do not depend on the exponent.
func parseDecimal(literal []byte) (d decimal, ok bool) {
	i, n, last := 0, 0, 0
	if len(literal) > 0 && literal[0] == '-' {
		d.negative = true
		i++
	}
	fraction := false
	for ; i < len(literal); i++ {
		c := literal[i]
		if c == '.' {
			fraction = true
			continue
		}
		if c < '0' || c > '9' {
			break
		}
		leading := n == 0 && c == '0'
		switch {
		case leading && fraction:
			d.exponent--
		case !leading && !fraction:
			d.exponent++
		}
		if leading {
			continue
		}
		if c != '0' {
			if n >= shortest {
				return decimal{}, false
			}
			d.digits[n] = c
			last = n + 1
		}
		n++
	}
	if last == 0 {
		return decimal{}, true
	}
	for j := range last {
		if d.digits[j] == 0 {
			d.digits[j] = '0'
		}
	}
	if i < len(literal) {
		d.exponent += parseExponent(literal[i+1:])
	}
	return d, true
}

// parseExponent reads an exponent and stops counting beyond the range of a double.
func parseExponent(text []byte) int {
	negative := false
	n := 0
	for _, c := range text {
		switch {
		case c == '-':
			negative = true
		case '0' <= c && c <= '9' && n < farExponent:
			n = n*10 + int(c-'0')
		}
	}
	if negative {
		return -n
	}
	return n
}
