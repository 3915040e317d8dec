package aaep

import (
	"bytes"
	"math"
	"strconv"
)

// maxSafeInteger is the largest integer of which every double is sure.
const maxSafeInteger = 1 << 53

// number returns the double that a number stands for. One that is too large for a
// double has none.
func (t *tape) number(n uint32) (float64, bool) {
	if !t.is(n, kindNumber) {
		return 0, false
	}
	return parseNumber(t.text(n))
}

// whole returns the integer that a number stands for, whatever its notation (C-18).
// Beyond ±2^53 there is none.
func (t *tape) whole(n uint32) (int64, bool) {
	if !t.is(n, kindNumber) {
		return 0, false
	}
	return parseWhole(t.text(n))
}

// decimal is a number as it is written: digits, and the power of ten by which they
// are to be multiplied. The digits are exact unless more is true.
type decimal struct {
	negative bool
	digits   uint64
	power    int
	more     bool // there are digits beyond those kept, not all of them zero
}

// maxDigits is how many digits surely fit a decimal.
const maxDigits = 18

// maxPower bounds the exponents that are told apart.
const maxPower = 1 << 20

// readDecimal takes a JSON number apart.
func readDecimal(literal []byte) decimal {
	var d decimal
	rest := literal
	if len(rest) > 0 && rest[0] == '-' {
		d.negative, rest = true, rest[1:]
	}
	decoded, fraction := 0, false
	for i, c := range rest {
		switch {
		case c == '.':
			fraction = true
			continue
		case c == 'e' || c == 'E':
			d.power += readExponent(rest[i+1:])
			return d
		case decoded < maxDigits:
			d.digits = d.digits*10 + uint64(c-'0')
			if d.digits > 0 {
				decoded++
			}
			if fraction {
				d.power--
			}
		default:
			d.more = d.more || c != '0'
			if !fraction {
				d.power++
			}
		}
	}
	return d
}

func readExponent(digits []byte) int {
	digits, negative := bytes.CutPrefix(digits, []byte("-"))
	digits = bytes.TrimPrefix(digits, []byte("+"))
	power := 0
	for _, c := range digits {
		power = min(power*10+int(c-'0'), maxPower)
	}
	if negative {
		return -power
	}
	return power
}

// parseWhole reads an integer exactly.
func parseWhole(literal []byte) (int64, bool) {
	d := readDecimal(literal)
	if d.more {
		return 0, false
	}
	for d.power < 0 && d.digits != 0 && d.digits%10 == 0 {
		d.digits /= 10
		d.power++
	}
	if d.digits == 0 {
		return 0, true
	}
	if d.power < 0 || d.digits > maxSafeInteger {
		return 0, false
	}
	for ; d.power > 0; d.power-- {
		if d.digits *= 10; d.digits > maxSafeInteger {
			return 0, false
		}
	}
	if d.negative {
		return -int64(d.digits), true
	}
	return int64(d.digits), true
}

// exactPower is the largest power of ten that a double carries exactly.
const exactPower = 22

// parseNumber reads a double. Short numbers, which are nearly all, need no more than
// one exact division.
func parseNumber(literal []byte) (float64, bool) {
	d := readDecimal(literal)
	if !d.more && d.digits <= maxSafeInteger && d.power <= 0 && d.power >= -exactPower {
		value := float64(d.digits) / powersOfTen[-d.power]
		if d.negative {
			value = -value
		}
		return value, true
	}
	value, err := strconv.ParseFloat(string(literal), 64)
	return value, err == nil
}

var powersOfTen = [exactPower + 1]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// surelySafe is how long a literal may be that no double can fail.
const surelySafe = 15

// numberFault says why a double cannot carry a number, or "" (ENV-05).
func numberFault(literal []byte) string {
	if len(literal) <= surelySafe && !bytes.ContainsAny(literal, "eE") {
		return ""
	}
	if value, ok := parseNumber(literal); !ok || math.IsInf(value, 0) {
		return "found the number " + clip(literal) + ", expected one that a double can hold"
	}
	if bytes.ContainsAny(literal, ".eE") {
		return ""
	}
	if _, ok := parseWhole(literal); !ok {
		return "found the integer " + clip(literal) + " beyond 2^53, expected it as a string"
	}
	return ""
}
