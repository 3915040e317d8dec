package schema

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// decimal is an exact number: 0.DIGITS × 10^point, without zeros at either end of the digits. Zero has none. An exponent
// costs no memory, however large it is.
type decimal struct {
	negative bool
	digits   string
	point    int64
}

// maxPoint is the largest exponent that is kept. What lies beyond it counts as just as large.
const maxPoint = math.MaxInt64 / 8

// parseDecimal reads a number of JSON.
func parseDecimal(text string) decimal {
	mantissa, negative := strings.CutPrefix(text, "-")
	var exponent int64
	if i := strings.IndexAny(mantissa, "eE"); i >= 0 {
		// A number that does not fit is returned as the largest or the smallest that does.
		exponent, _ = strconv.ParseInt(mantissa[i+1:], 10, 64)
		exponent, mantissa = min(max(exponent, -maxPoint), maxPoint), mantissa[:i]
	}
	whole, fraction, broken := strings.Cut(mantissa, ".")
	digits, point := whole, int64(len(whole))
	if broken {
		digits = whole + fraction
	}
	trimmed := strings.TrimLeft(digits, "0")
	point += exponent - int64(len(digits)-len(trimmed))
	trimmed = strings.TrimRight(trimmed, "0")
	if trimmed == "" {
		return decimal{}
	}
	return decimal{negative: negative, digits: trimmed, point: point}
}

func (d decimal) whole() bool { return d.point >= int64(len(d.digits)) }

func (d decimal) compare(other decimal) int {
	switch {
	case d.negative != other.negative:
		if d.negative {
			return -1
		}
		return 1
	case d.negative:
		return other.magnitude(d)
	default:
		return d.magnitude(other)
	}
}

func (d decimal) magnitude(other decimal) int {
	switch {
	case d.digits == "" || other.digits == "":
		return cmp.Compare(len(d.digits), len(other.digits))
	case d.point != other.point:
		return cmp.Compare(d.point, other.point)
	default:
		return strings.Compare(d.digits, other.digits)
	}
}

// multipleOf reports whether d is a multiple of a positive number. It takes remainders piece by piece, so that its work grows
// with the digits alone.
func (d decimal) multipleOf(unit decimal) bool {
	if d.digits == "" {
		return true
	}
	exponent := (d.point - int64(len(d.digits))) - (unit.point - int64(len(unit.digits)))
	if exponent < 0 {
		return false // the digits do not end in zero, so no power of ten divides them
	}
	if unit.digits == "1" {
		return true
	}
	const piece = 18 // digits that an int64 holds
	divisor := new(big.Int)
	divisor.SetString(unit.digits, 10)
	rest, shift, next := new(big.Int), new(big.Int), new(big.Int)
	for digits := d.digits; digits != ""; {
		n := min(piece, len(digits))
		value, _ := strconv.ParseInt(digits[:n], 10, 64)
		shift.SetInt64(int64(math.Pow10(n)))
		rest.Mul(rest, shift).Add(rest, next.SetInt64(value)).Rem(rest, divisor)
		digits = digits[n:]
	}
	shift.Exp(shift.SetInt64(10), next.SetInt64(exponent), divisor)
	return rest.Mul(rest, shift).Rem(rest, divisor).Sign() == 0
}

// String writes a number as people do, and with an exponent if it is very large or very small.
func (d decimal) String() string {
	const longest, smallest = 40, -20
	n := int64(len(d.digits))
	var text string
	switch {
	case n == 0:
		return "0"
	case d.point > longest || d.point <= smallest:
		text = d.digits[:1]
		if n > 1 {
			text += "." + d.digits[1:]
		}
		text += "e" + strconv.FormatInt(d.point-1, 10)
	case d.point >= n:
		text = d.digits + strings.Repeat("0", int(d.point-n))
	case d.point > 0:
		text = d.digits[:d.point] + "." + d.digits[d.point:]
	default:
		text = "0." + strings.Repeat("0", int(-d.point)) + d.digits
	}
	if d.negative {
		return "-" + text
	}
	return text
}

// numberText returns the text of a number, whichever type of Go it has.
func numberText(v any) string {
	switch v := v.(type) {
	case json.Number:
		return string(v)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case float32:
		return strconv.FormatFloat(float64(v), 'g', -1, 32)
	default:
		return fmt.Sprint(v)
	}
}

// isWhole reports whether a number is an integer: 1.0 and 1e3 are.
func isWhole(text string) bool {
	return !strings.ContainsAny(text, ".eE") || parseDecimal(text).whole()
}
