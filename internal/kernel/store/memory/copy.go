package memory

import (
	"fmt"
	"reflect"
	"time"
)

// copyOf returns a copy that shares nothing with the value: callers may change what they get, and what they have given. It
// knows no types, so it also copies fields that are added later.
func copyOf[T any](v T) T {
	unshare(reflect.ValueOf(&v).Elem())
	return v
}

// unshare replaces everything that a value refers to by a copy.
func unshare(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return // its location never changes
		}
		for _, field := range v.Fields() {
			unshare(field)
		}
	case reflect.Array:
		for i := 0; refers(v.Type().Elem()) && i < v.Len(); i++ {
			unshare(v.Index(i))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			to := reflect.New(v.Type().Elem())
			to.Elem().Set(v.Elem())
			unshare(to.Elem())
			v.Set(to)
		}
	case reflect.Slice:
		unshareSlice(v)
	case reflect.Map:
		unshareMap(v)
	case reflect.Chan, reflect.Func, reflect.Interface, reflect.UnsafePointer:
		panic(fmt.Sprintf("memory: a %v cannot be copied", v.Type()))
	default:
	}
}

// refers reports whether values of a type can refer to others.
func refers(t reflect.Type) bool { return t.Kind() > reflect.Complex128 && t.Kind() != reflect.String }

func unshareSlice(v reflect.Value) {
	if v.IsNil() {
		return
	}
	to := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
	reflect.Copy(to, v)
	for i := 0; refers(v.Type().Elem()) && i < to.Len(); i++ {
		unshare(to.Index(i))
	}
	v.Set(to)
}

func unshareMap(v reflect.Value) {
	if v.IsNil() {
		return
	}
	to := reflect.MakeMapWithSize(v.Type(), v.Len())
	for k, one := range v.Seq2() {
		row := reflect.New(v.Type().Elem()).Elem()
		row.Set(one)
		unshare(row)
		to.SetMapIndex(k, row)
	}
	v.Set(to)
}
