package memory

import (
	"reflect"
	"testing"
)

// TestEach: no table is forgotten, whose changes would never be committed.
func TestEach(t *testing.T) {
	t.Parallel()
	var rows tables
	seen := map[anyTable]bool{}
	rows.each(func(one anyTable) { seen[one] = true })
	for field, v := range reflect.ValueOf(&rows).Elem().Fields() {
		if v.Kind() == reflect.Struct && !seen[reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Interface().(anyTable)] {
			t.Errorf("the table %s is in none of the commits", field.Name)
		}
	}
}
