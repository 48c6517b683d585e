/* A library with one function, whose code needs nothing outside itself. OTHER makes a library of another layout. */
#ifdef OTHER
long other(long rounds)
{
    volatile long sum = rounds;
    for (long i = 0; i < 100; i++)
        sum += i;
    return sum;
}
#endif

long spin(long rounds)
{
    volatile long i = 0;
    while (i < rounds)
        i++;
    return i;
}
