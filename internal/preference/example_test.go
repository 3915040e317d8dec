package preference_test

import (
	"fmt"

	"github.com/earshot-dev/earshot/internal/preference"
)

func Example() {
	seconds, err := preference.AnswerTime("15m", true)
	if err != nil {
		panic(err)
	}
	fmt.Println(preference.Answer("anna", *seconds))

	_, err = preference.UndoTime("1s", true)
	fmt.Println(err)
	// Output:
	// questions to anna stay open for 15 minutes once they are shown.
	// "1s" is not a valid time to take an accept back; it can be 3s to 2m
}
