// C declarations with findings, as in Documentation.swift.

/// Shared by two.
void documented(void);
void neighbour(void);

void undocumented(void); // finds undocumented
extern int number;       // finds number

typedef struct pair { // finds pair
  int first;
} pair;
