/// The types of the cases: structs, each with its members listed once. The list generates the struct and a
/// description of its members. The description is used to fill in and compare values, independently of the runtime
/// and ignoring padding.
#ifndef SIGNATURE_TYPES_H
#define SIGNATURE_TYPES_H

#include "CKVORuntime.h"

/// How a member is filled in and compared.
typedef enum leaf_kind {
  LEAF_BITS, ///< integers and pointers: any bits
  LEAF_BOOL,
  LEAF_FLOAT,
  LEAF_DOUBLE,
  LEAF_LONG_DOUBLE, ///< compared without its padding
  LEAF_STRING,      ///< compared by text, since values own copies
  LEAF_OBJECT,
  LEAF_STRUCT,
} leaf_kind;

typedef struct description description;

typedef struct leaf {
  leaf_kind kind;
  size_t offset;
  size_t size; ///< of one element
  size_t count;
  const description *(*nested)(void); ///< LEAF_STRUCT's
} leaf;

struct description {
  size_t size;
  size_t leaf_count;
  const leaf *leaves;
};

/// Fills in a value, padding included: an extreme one chosen by the round's number, or a random one.
void sample_fill(const description *description, void *value, unsigned round);
/// Whether all members have equal bits, and strings equal text.
bool sample_same(const description *description, const void *a, const void *b);

#define LEAF_KIND(type)              \
  _Generic(*(type *)0,               \
      _Bool: LEAF_BOOL,              \
      float: LEAF_FLOAT,             \
      double: LEAF_DOUBLE,           \
      long double: LEAF_LONG_DOUBLE, \
      const char *: LEAF_STRING,     \
      kvo_object *: LEAF_OBJECT,     \
      default: LEAF_BITS)

// A list names each member by M(type, name, dimensions, elements), or S(tag, name, dimensions,
// elements) if it is a struct.

#define MEMBERS_c(M, S) M(int8_t, a, , 1)
#define MEMBERS_cc(M, S) M(int8_t, a, , 1) M(int8_t, b, , 1)
#define MEMBERS_ccc(M, S) M(int8_t, a, , 1) M(int8_t, b, , 1) M(uint8_t, c, , 1)
#define MEMBERS_B(M, S) M(bool, a, , 1)
#define MEMBERS_s(M, S) M(int16_t, a, , 1)
#define MEMBERS_sc(M, S) M(int16_t, a, , 1) M(int8_t, b, , 1)
#define MEMBERS_csc(M, S) M(int8_t, a, , 1) M(int16_t, b, , 1) M(int8_t, c, , 1)
#define MEMBERS_i(M, S) M(int, a, , 1)
#define MEMBERS_ii(M, S) M(int, a, , 1) M(unsigned, b, , 1)
#define MEMBERS_iii(M, S) MEMBERS_ii(M, S) M(int, c, , 1)
#define MEMBERS_iiii(M, S) MEMBERS_iii(M, S) M(unsigned, d, , 1)
#define MEMBERS_ic(M, S) M(int, a, , 1) M(int8_t, b, , 1)
#define MEMBERS_ci(M, S) M(int8_t, a, , 1) M(int, b, , 1)
#define MEMBERS_f(M, S) M(float, a, , 1)
#define MEMBERS_ff(M, S) M(float, a, , 1) M(float, b, , 1)
#define MEMBERS_fff(M, S) M(float, a, , 1) M(float, b, , 1) M(float, c, , 1)
#define MEMBERS_ffff(M, S) MEMBERS_fff(M, S) M(float, d, , 1)
#define MEMBERS_fffff(M, S) MEMBERS_ffff(M, S) M(float, e, , 1)
#define MEMBERS_fi(M, S) M(float, a, , 1) M(int, b, , 1)
#define MEMBERS_if(M, S) M(int, a, , 1) M(float, b, , 1)
#define MEMBERS_ffi(M, S) M(float, a, , 1) M(float, b, , 1) M(int, c, , 1)
#define MEMBERS_fif(M, S) M(float, a, , 1) M(int, b, , 1) M(float, c, , 1)
#define MEMBERS_iff(M, S) M(int, a, , 1) M(float, b, , 1) M(float, c, , 1)
#define MEMBERS_fc(M, S) M(float, a, , 1) M(int8_t, b, , 1)
#define MEMBERS_cf(M, S) M(int8_t, a, , 1) M(float, b, , 1)
#define MEMBERS_fffi(M, S) MEMBERS_fff(M, S) M(int, d, , 1)
#define MEMBERS_d(M, S) M(double, a, , 1)
#define MEMBERS_dd(M, S) M(double, a, , 1) M(double, b, , 1)
#define MEMBERS_ddd(M, S) MEMBERS_dd(M, S) M(double, c, , 1)
#define MEMBERS_dddd(M, S) MEMBERS_ddd(M, S) M(double, d, , 1)
#define MEMBERS_ddddd(M, S) MEMBERS_dddd(M, S) M(double, e, , 1)
#define MEMBERS_cd(M, S) M(int8_t, a, , 1) M(double, b, , 1)
#define MEMBERS_dc(M, S) M(double, a, , 1) M(int8_t, b, , 1)
#define MEMBERS_df(M, S) M(double, a, , 1) M(float, b, , 1)
#define MEMBERS_fd(M, S) M(float, a, , 1) M(double, b, , 1)
#define MEMBERS_dq(M, S) M(double, a, , 1) M(int64_t, b, , 1)
#define MEMBERS_qd(M, S) M(int64_t, a, , 1) M(double, b, , 1)
#define MEMBERS_Bd(M, S) M(bool, a, , 1) M(double, b, , 1)
#define MEMBERS_q(M, S) M(int64_t, a, , 1)
#define MEMBERS_qq(M, S) M(int64_t, a, , 1) M(uint64_t, b, , 1)
#define MEMBERS_qqq(M, S) MEMBERS_qq(M, S) M(int64_t, c, , 1)
#define MEMBERS_qqqq(M, S) MEMBERS_qqq(M, S) M(void *, d, , 1)
#define MEMBERS_qc(M, S) M(int64_t, a, , 1) M(int8_t, b, , 1)
#define MEMBERS_pointers(M, S) M(void *, a, , 1) M(int *, b, , 1)
#define MEMBERS_D(M, S) M(long double, a, , 1)
#define MEMBERS_cD(M, S) M(int8_t, a, , 1) M(long double, b, , 1)
#define MEMBERS_dD(M, S) M(double, a, , 1) M(long double, b, , 1)
#define MEMBERS_boxed(M, S) S(D, a, [1], 1)
#define MEMBERS_named(M, S) M(const char *, name, , 1) M(int, number, , 1)
#define MEMBERS_owner(M, S) M(kvo_object *, object, , 1) M(double, share, , 1)
#define MEMBERS_range(M, S) S(dd, low, , 1) S(dd, high, , 1)
#define MEMBERS_tail(M, S) S(fi, a, , 1) M(int8_t, b, , 1)
#define MEMBERS_inner(M, S) M(int8_t, a, , 1) S(fc, b, , 1) M(int8_t, c, , 1)
#define MEMBERS_deep(M, S) S(inner, a, , 1) M(double, b, , 1)
#define MEMBERS_floats2(M, S) M(float, a, [2], 2)
#define MEMBERS_floats4(M, S) M(float, a, [4], 4)
#define MEMBERS_rows(M, S) S(ff, a, [2], 2)
#define MEMBERS_shorts(M, S) M(int16_t, a, [3], 3) M(int8_t, b, , 1)
#define MEMBERS_pairs(M, S) S(ic, a, [2], 2)
#define MEMBERS_grid(M, S) M(int8_t, a, [2][3], 6) M(float, b, , 1)
#define MEMBERS_doubles9(M, S) M(double, a, [9], 9)
#define MEMBERS_mixed72(M, S) \
  M(int, a, , 1) M(int64_t, b, [2], 2) M(float, c, [3], 3) M(int16_t, d, [3], 3) S(ddd, e, [1], 1)
#define MEMBERS_doubles32(M, S) M(double, a, [32], 32)
#define MEMBERS_mixed256(M, S) \
  M(double, a, [15], 15) M(int, b, [16], 16) M(int8_t, c, [57], 57) M(float, d, [3], 3)

// clang-format off

/// T(tag, encoding), nested structs before their users.
#define MIXED_STRUCTS(T)                                                                         \
  T(c, "{c=c}") T(cc, "{cc=cc}") T(ccc, "{ccc=ccC}") T(B, "{B=B}") T(s, "{s=s}")                 \
  T(sc, "{sc=sc}") T(csc, "{csc=csc}") T(i, "{i=i}") T(ic, "{ic=ic}") T(ci, "{ci=ci}")           \
  T(f, "{f=f}") T(ff, "{ff=ff}") T(fff, "{fff=fff}") T(ffff, "{ffff=ffff}")                      \
  T(fffff, "{fffff=fffff}") T(fi, "{fi=fi}") T(if, "{if=if}") T(ffi, "{ffi=ffi}")                \
  T(fif, "{fif=fif}") T(iff, "{iff=iff}") T(fc, "{fc=fc}") T(cf, "{cf=cf}")                      \
  T(fffi, "{fffi=fffi}") T(d, "{d=d}") T(dd, "{dd=dd}") T(ddd, "{ddd=ddd}")                      \
  T(dddd, "{dddd=dddd}") T(ddddd, "{ddddd=ddddd}") T(cd, "{cd=cd}") T(dc, "{dc=dc}")             \
  T(df, "{df=df}") T(fd, "{fd=fd}") T(dq, "{dq=dq}") T(qd, "{qd=qd}") T(Bd, "{Bd=Bd}")           \
  T(q, "{q=q}") T(qq, "{qq=qQ}") T(qqq, "{qqq=qQq}") T(qqqq, "{qqqq=qQq^v}") T(qc, "{qc=qc}")    \
  T(ii, "{ii=iI}") T(iii, "{iii=iIi}") T(iiii, "{iiii=iIiI}") T(rows, "{rows=[2{ff=ff}]}")       \
  T(pointers, "{pointers=^v^i}") T(D, "{D=D}") T(cD, "{cD=cD}") T(dD, "{dD=dD}")                 \
  T(boxed, "{boxed=[1{D=D}]}") T(named, "{named=*i}") T(owner, "{owner=@d}")                     \
  T(range, "{range={dd=dd}{dd=dd}}") T(tail, "{tail={fi=fi}c}") T(inner, "{inner=c{fc=fc}c}")    \
  T(deep, "{deep={inner=c{fc=fc}c}d}") T(floats2, "{floats2=[2f]}") T(floats4, "{floats4=[4f]}") \
  T(shorts, "{shorts=[3s]c}") T(pairs, "{pairs=[2{ic=ic}]}") T(grid, "{grid=[2[3c]]f}")          \
  T(doubles9, "{doubles9=[9d]}") T(mixed72, "{mixed72=i[2q][3f][3s][1{ddd=ddd}]}")               \
  T(doubles32, "{doubles32=[32d]}") T(mixed256, "{mixed256=[15d][16i][57c][3f]}")

/// T(size, encoding): structs of that many bytes, with alignment 1.
#define BYTES(T, n) T(n, "{bytes=[" #n "C]}")
#define BYTE_STRUCTS(T)                                                                      \
  BYTES(T, 1) BYTES(T, 2) BYTES(T, 3) BYTES(T, 4) BYTES(T, 5) BYTES(T, 6) BYTES(T, 7)        \
  BYTES(T, 8) BYTES(T, 9) BYTES(T, 10) BYTES(T, 11) BYTES(T, 12) BYTES(T, 13) BYTES(T, 14)   \
  BYTES(T, 15) BYTES(T, 16) BYTES(T, 17) BYTES(T, 18) BYTES(T, 19) BYTES(T, 20) BYTES(T, 21) \
  BYTES(T, 22) BYTES(T, 23) BYTES(T, 24) BYTES(T, 25) BYTES(T, 26) BYTES(T, 27) BYTES(T, 28) \
  BYTES(T, 29) BYTES(T, 30) BYTES(T, 31) BYTES(T, 32) BYTES(T, 33) BYTES(T, 40) BYTES(T, 47) \
  BYTES(T, 48) BYTES(T, 49) BYTES(T, 63) BYTES(T, 64) BYTES(T, 65) BYTES(T, 71) BYTES(T, 72) \
  BYTES(T, 73) BYTES(T, 96) BYTES(T, 100) BYTES(T, 127) BYTES(T, 128) BYTES(T, 129)          \
  BYTES(T, 160) BYTES(T, 192) BYTES(T, 200) BYTES(T, 224) BYTES(T, 254) BYTES(T, 255)        \
  BYTES(T, 256)

/// T(id, type): the types that `KVO_TYPE` knows.
#define SCALARS(T)                                                                            \
  T(boolean, bool) T(char, char) T(signed_char, signed char) T(unsigned_char, unsigned char)  \
  T(short, short) T(unsigned_short, unsigned short) T(int, int) T(unsigned, unsigned)         \
  T(long, long) T(unsigned_long, unsigned long) T(long_long, long long)                       \
  T(unsigned_long_long, unsigned long long) T(size, size_t) T(float, float) T(double, double) \
  T(long_double, long double) T(pointer, void *) T(int_pointer, int *)                        \
  T(function_pointer, sample_function) T(weekday, sample_weekday_enum) T(text, const char *)

/// T(id, type, encoding): other spellings, and types that need an explicit encoding.
#define NAMED_SCALARS(T)                                                                   \
  T(encoded_long, long, "l") T(encoded_unsigned_long, unsigned long, "L")                  \
  T(constant_text, const char *, "r*") T(deep_pointer, int **, "^^i")                      \
  T(struct_pointer, void *, "^{list=^{list}(value=id)[2b3]}") T(object, kvo_object *, "@") \
  T(class_object, kvo_object *, "@\"Account\"")

/// T(value, its encoding, result, its encoding): setters that return a value.
#define RETURNING_SETTERS(T)                                                                     \
  T(double, "d", boolean, "B") T(double, "d", signed_char, "c")                                  \
  T(double, "d", unsigned_char, "C") T(short, "s", short, "s")                                   \
  T(float, "f", unsigned_short, "S") T(int, "i", int, "i") T(double, "d", unsigned, "I")         \
  T(long_double, "D", long_long, "q") T(ddd, "{ddd=ddd}", unsigned_long, "Q")                    \
  T(boolean, "B", float, "f") T(int, "i", double, "d") T(double, "d", long_double, "D")          \
  T(double, "d", pointer, "^v") T(int, "i", text, "*") T(double, "d", ccc, "{ccc=ccC}")          \
  T(int, "i", fff, "{fff=fff}") T(double, "d", fi, "{fi=fi}") T(int, "i", dq, "{dq=dq}")         \
  T(double, "d", ddd, "{ddd=ddd}") T(fff, "{fff=fff}", dddd, "{dddd=dddd}") T(fi, "{fi=fi}", signed_char, "c") T(double, "d", D, "{D=D}") \
  T(int, "i", dD, "{dD=dD}") T(bytes3, "{bytes=[3C]}", bytes256, "{bytes=[256C]}")               \
  T(doubles32, "{doubles32=[32d]}", doubles9, "{doubles9=[9d]}")

// clang-format on

typedef enum sample_weekday { SAMPLE_MONDAY, SAMPLE_SUNDAY = 6 } sample_weekday_enum;
typedef int (*sample_function)(double);

// MARK: The types: sample_<id>, described by describe_<id>().

#define DECLARE_MEMBER(type, name, dimensions, elements) type name dimensions;
#define DECLARE_STRUCT_MEMBER(tag, name, dimensions, elements) sample_##tag name dimensions;
#define DECLARE_STRUCT(tag, encoding)                    \
  typedef struct sample_##tag {                          \
    MEMBERS_##tag(DECLARE_MEMBER, DECLARE_STRUCT_MEMBER) \
  } sample_##tag;                                        \
  const description *describe_##tag(void);
#define DECLARE_BYTES(size, encoding) \
  typedef struct sample_bytes##size { \
    uint8_t a[size];                  \
  } sample_bytes##size;               \
  const description *describe_bytes##size(void);
#define DECLARE_SCALAR(id, type) \
  typedef type sample_##id;      \
  const description *describe_##id(void);
#define DECLARE_NAMED_SCALAR(id, type, encoding) DECLARE_SCALAR(id, type)

MIXED_STRUCTS(DECLARE_STRUCT)
BYTE_STRUCTS(DECLARE_BYTES)
SCALARS(DECLARE_SCALAR)
NAMED_SCALARS(DECLARE_NAMED_SCALAR)

enum { SAMPLE_SIZE_LIMIT = 256 };
_Static_assert(sizeof(sample_mixed72) == 72, "the case's name says so");
_Static_assert(sizeof(sample_mixed256) == SAMPLE_SIZE_LIMIT, "the case's name says so");

#endif
